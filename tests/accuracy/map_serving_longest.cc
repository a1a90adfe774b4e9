#include "engine/plan/plan.h"
#include "engine/units.h"
#include "tests/accuracy/map_serving_pool.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/serving_words.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {

namespace {

bool is_needed(const std::string& name) {
  for (const char* word : {"needed", "required", "kv_needed", "kv_required"})
    if (name.rfind(word, 0) == 0) return true;
  return false;
}

bool is_longest(const std::string& name) {
  return holds_any(name, {"estimated_max_len", "max_len_estimate", "estimated_max_model_len", "estimated_len",
                          "max_model_len_estimate", "estimated_maximum"});
}

double available_pool(const json& c) {
  const double pool = first_of(c, {"available_kv_gib", "available_gib", "available_gb"});
  return pool > 0 ? pool : logged_pool_gib(c);
}

}  // namespace

/// What vllm's refusal to start says: GiB that one request of max_len needs, of all layers where a pipeline's stages
/// have some each (v1/core/kv_cache_utils.py, _check_enough_kv_cache_memory), and the longest that there is room for.
bool add_refusal(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string name = text(check, "name");
  const double bytes = bytes_of_unit(text(check, "unit"));
  if (m.engine != "vllm") return false;
  if (is_longest(name)) {
    const double pool = available_pool(m.c);
    if (pool == 0) return false;
    ServingMap given = m;
    given.share.set("serve_pp", 1.0);
    given.share.set("measured_kv_pool", pool);
    given.share.set("concurrency", 1.0);
    Measurement one = begin(given, text(check, "kind"), Figure::longest_request);
    one.measured = number(check, "measured");
    one.unit = "tokens";
    out.push_back(std::move(one));
    return true;
  }
  const bool hybrid = in_groups(m), stages = number(m.c, "pp") > 1;
  if (!is_needed(name) || bytes == 0 || stated_length(m.c) == 0 || (!hybrid && !stages)) return false;
  Measurement one = begin(m, text(check, "kind"), Figure::request_cache);
  one.measured = number(check, "measured") * bytes;
  one.unit = text(check, "unit");
  out.push_back(std::move(one));
  return true;
}

}  // namespace vram::accuracy
