#include <algorithm>
#include <cmath>

#include "engine/formats.h"
#include "engine/plan/plan.h"
#include "engine/serving/llamacpp.h"
#include "tests/accuracy/llamacpp_asked.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/serving_words.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

/// ik_llama.cpp has builds of its own, and with branches it cached latents alone before llama.cpp did.
bool caches_keys_alone(const json& c) {
  const json* values = find(c, "measured.v_mib");
  return lower(text(c, "engine")).rfind("ik", 0) == 0 || (values != nullptr && number(c, "measured.v_mib") == 0);
}

/// Old DeepSeek caches: keys and values of whole heads stand in the log apart, 192 and 128 elements of each.
void set_whole_heads(Asked& a) {
  const Plan plan = read_plan(a.given.share.text()).plan;
  const double keys = first_of(a.m.c, {"k_mib"}), values = first_of(a.m.c, {"v_mib"});
  if (!plan.subject || plan.kv_lora_rank <= 0 || keys == 0 || values == 0) return;
  const double heads = (plan.nope_head_dim + plan.rope_head_dim) / plan.v_head_dim;
  if (std::fabs(keys / values - heads) < 0.01 * heads && llamacpp_build(plan.engine_version).absorbs_latents)
    a.given.share.set("engine_version", "2025-04");
}

/// A cache of drafts is one of a run that drafts.
void set_draft_of_check(Asked& a) {
  if (first_number(a.given.share.get("draft_tokens")).value_or(0) < 1) a.given.share.set("draft_tokens", 1.0);
}

/// "kv_q8_0_mib", "v_f16": what a check is of. A latent's values are of the type that is asked for, too.
void set_type_of_check(Asked& a, bool keys, bool values) {
  const std::string type = type_of_name(text(a.check, "name"));
  if (type.empty()) return;
  const bool latent = read_plan(a.given.share.text()).plan.kv_lora_rank > 0;
  if (keys || latent || !values) a.given.share.set("kv", type);
  if (values || !keys) a.given.share.set("kv_values", type);
  a.given.kv_unread = false;
}

}  // namespace

std::string type_of_name(const std::string& name) {
  std::string longest;
  for (const Format& format : formats()) {
    const std::string id(format.id);
    if (id.find('_') != std::string::npos && lower(name).find(id) != std::string::npos && id.size() > longest.size())
      longest = id;
  }
  const std::string type = longest.empty() ? format_of(name) : longest;
  return find_format(type) == nullptr ? "" : type == "fp16" ? "bf16" : type;
}

void add_cache(Asked& a, std::vector<Measurement>& out) {
  take_place_of_twin(a);
  if (a.name.has_any({"mtp", "draft"})) set_draft_of_check(a);
  set_whole_heads(a);
  const bool typed = number(a.m.c, "measured.k_" + text(a.check, "name") + "_mib") > 0;  // "q8_0" of "k_q8_0_mib"
  const bool keys = typed || a.name.has_any({"k", "keys"}), values = a.name.has_any({"v", "values"});
  set_type_of_check(a, keys, values);
  if (caches_keys_alone(a.m.c)) a.given.share.set("engine_version", "2026-06");
  std::string part = place_part(a);
  const bool windows = a.name.has_any({"swa", "sliding", "window"});  // "swa_full_size" is of those that slide
  for (const auto& [word, what] : {std::pair{"full", "full"},
                                   {"global", "full"},
                                   {"swa", "sliding"},
                                   {"sliding", "sliding"},
                                   {"window", "sliding"},
                                   {"mtp", "draft"},
                                   {"draft", "draft"},
                                   {"indexer", "indexer"}})
    if (a.name.has(word) && !(windows && std::string_view(what) == "full")) part += std::string(" ") + what;
  if (keys && !a.name.has("indexer")) part += " keys";
  if (values) part += " values";
  Measurement one = measured(a, Figure::kv_pool, part);
  if (holds_any(lower(text(a.check, "explanation")), {"cross-attention", "cross attention"}))
    one.skip_for("a cache of images");
  const bool two = !keys && !values && a.name.has("mixed") && a.given.share.get("kv_values").empty();
  if (two) one.skip_for("K and V of two types");
  out.push_back(std::move(one));
}

void add_states(Asked& a, std::vector<Measurement>& out) {
  std::string part = place_part(a);
  if (a.name.has_any({"checkpoint", "snapshot"})) a.given.share.set("concurrency", 1.0);
  if (a.name.has_any({"r", "conv", "convolution"})) part += " convolution";
  if (a.name.has_any({"s", "ssm", "scan"})) part += " scan";
  if (a.name.has_any({"slot", "seq"})) a.given.share.set("concurrency", 1.0);
  out.push_back(measured(a, Figure::recurrent, part));
}

}  // namespace vram::accuracy
