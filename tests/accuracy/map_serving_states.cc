#include "tests/accuracy/map_serving_states.h"

#include <algorithm>

#include "tests/accuracy/check_name.h"
#include "tests/accuracy/map_serving_pool.h"
#include "tests/accuracy/rank_said.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/serving_words.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

/// "state_slots_bf16" beside "conv_gib_bf16": what stands behind the count stands behind the size, too.
double logged_slots(const json& c, const std::string& check) {
  if (const double slots = first_of(c, {"max_mamba_cache_size", "n_seq_max"}); slots > 0) return slots;
  const json* measured = find(c, "measured");
  if (measured == nullptr || !measured->is_object()) return 0;
  double plain = 0;
  for (const auto& [name, value] : measured->items()) {
    const size_t at = name.find("_slots");
    if (at == std::string::npos || !value.is_number() || !holds_any(name, {"state", "mamba"})) continue;
    const std::string behind = name.substr(at + 6);
    if (!behind.empty() && check.ends_with(behind)) return value.get<double>();
    if (behind.empty()) plain = value.get<double>();
  }
  return plain;
}

/// What sglang sets apart for states of the pool that the log has of tokens.
void add_state_pool(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  Measurement one = begin(m, text(check, "kind"), Figure::recurrent);
  one.measured = number(check, "measured") * bytes_of_unit(text(check, "unit"));
  one.unit = text(check, "unit");
  one.part = "pool beside " + std::to_string(logged_pool_gib(m.c));
  out.push_back(std::move(one));
}

}  // namespace

bool is_of_states(const std::string& name) {
  for (const char* word : {"gdn_", "ssm_", "conv_", "kda_", "mamba", "recurrent", "rs_", "state"})
    if (name.starts_with(word) || name.find("_" + std::string(word)) != std::string::npos) return true;
  return false;
}

void add_states(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  ServingMap given = m;
  const std::string name = text(check, "name"), unit = text(check, "unit");
  if (!knows_states(m)) given.skip("the states of linear layers are not known");
  const double logged = logged_slots(m.c, name);
  const bool shared = m.engine == "sglang" && (name.find("share") != std::string::npos || logged == 0);
  if (shared && logged_pool_gib(m.c) > 0 && name.find("slot") == std::string::npos)
    return add_state_pool(given, check, out);
  const auto rank = share_of_rank(m.c, name, "state");
  if (rank) given.share.set("serve_tp", 1.0);
  double slots = logged > 0 ? logged + (m.engine == "sglang" ? 1 : 0) : number(m.c, "batch");
  for (const char* one : {"slot", "per_req", "per_seq", "a_request", "one_request"})
    if (name.find(one) != std::string::npos || unit.find("/req") != std::string::npos) slots = 1;
  given.share.set("concurrency", std::max(1.0, slots));
  given.share.set("prompt", 1.0);
  given.share.set("output", 0.0);
  Measurement one = begin(given, text(check, "kind"), Figure::recurrent);
  one.measured = number(check, "measured") * bytes_of_unit(unit) / rank.value_or(1);
  one.rounding = half_digit(number(check, "measured")) * bytes_of_unit(unit) / rank.value_or(1);
  one.unit = unit;
  const auto names = [&](const char* word) { return name.find(word) != std::string::npos; };
  one.part = names("ssm") ? "scan" : names("conv") ? "convolution" : "";
  out.push_back(std::move(one));
}

void add_state_slots(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  Measurement one = begin(m, text(check, "kind"), Figure::state_slots);
  one.measured = number(check, "measured");
  one.unit = text(check, "unit");
  out.push_back(std::move(one));
}

}  // namespace vram::accuracy
