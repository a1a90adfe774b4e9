#include "tests/accuracy/map_serving_named.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "engine/plan/plan.h"
#include "engine/text.h"
#include "tests/accuracy/check_name.h"
#include "tests/accuracy/map_serving_pool.h"
#include "tests/accuracy/rank_said.h"
#include "tests/accuracy/serving_words.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

/// What free memory falls by where a log prints no pool.
void add_predicted_drop(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  Measurement one = begin(m, "pool predicted", Figure::pool_and_table);
  one.measured = number(check, "measured") * bytes_of_unit(text(check, "unit"));
  one.unit = text(check, "unit");
  const Plan plan = read_plan(m.share.text()).plan;
  one.relative_to = plan.utilization * plan.gpu_mem;
  if (m.gpu_unread) one.skip_for("the GPU is not known");
  out.push_back(std::move(one));
}

/// Weights and what libraries took with them, where the log has one figure for both ("weights_plus_non_torch_gib").
bool holds_non_torch(const json& c, const json& check) {
  const json* measured = find(c, "measured");
  if (measured == nullptr || !measured->is_object()) return false;
  for (const auto& [name, value] : measured->items())
    if (value.is_number() && value.get<double>() == number(check, "measured") && name.find("weights") == 0 &&
        name.find("non_torch") != std::string::npos)
      return true;
  return false;
}

/// "weights_tp1": of so many ranks, whatever the run's were; "weights_total", "checkpoint_gib": of the whole model.
void set_ranks(ServingMap& m, const std::string& name) {
  if (stage_said(m.c, name)) return;
  const bool whole = holds_any(name, {"_total", "checkpoint"}) || name.rfind("total_", 0) == 0;
  if (whole && m.engine != "llamacpp")
    for (const char* key : {"serve_tp", "serve_pp", "serve_ep", "serve_gpus"})
      if (!m.share.get(key).empty()) m.share.set(key, 1.0);
  for (const auto& [word, key] : {std::pair{"_tp", "serve_tp"}, std::pair{"_pp", "serve_pp"}}) {
    const size_t at = name.find(word);
    if (at != std::string::npos && at + 3 < name.size() && is_digit(name[at + 3]))
      m.share.set(key, std::strtod(name.c_str() + at + 3, nullptr));
  }
}

/// A size that people give a checkpoint ("weights_gb_text": 62) counts in powers of ten and has few digits.
bool is_of_prose(const json& c, const json& check) {
  const std::string field = twin_of(c, check), unit = lower(text(check, "unit"));
  const bool decimal = unit == "gb" || unit == "mb";
  return decimal && holds_any(field, {"text", "checkpoint", "disk", "download", "published"});
}

void set_prose_size(const json& check, Measurement& one) {
  const double power = lower(one.unit) == "gb" ? 1e9 : 1e6, said = number(check, "measured");
  one.measured = said * power;
  one.rounding = 0.5 * power * (std::fabs(said - std::round(said)) < 1e-9 ? 1 : 0.1);
}

/// GiB of the pool that the figure is of: as logged, or as its tokens take. 0: not logged.
double pool_of_check(const ServingMap& m, Figure figure) {
  double pool = logged_pool_gib(m.c);
  if (pool == 0) pool = gib_of_tokens(m, cached_tokens(m.c, ""));
  if (figure == Figure::pool_and_table && pool > 0) pool += logged_states_gib(m.c);
  return pool;
}

/// What a log's weights hold beside the model's, or of which stage they are.
void set_part_of_weights(const json& c, const json& check, Measurement& one) {
  // What TensorRT-LLM says of the GPU, not of the engine; no more than the engine is what TensorRT itself manages.
  const double after = number(c, "measured.gpu_mib_after_context"), built = number(c, "measured.engine_mib");
  if (after == number(check, "measured") && (built == 0 || after > built)) one.part = "process";
  if (holds_non_torch(c, check)) one.part = "non-torch";
  if (const auto stage = stage_said(c, text(check, "name"))) one.part = "stage " + std::to_string(*stage);
}

void skip_unknown_storage(const ServingMap& given, Measurement& one) {
  const bool unread = given.share.get("weights").empty() && !text(given.c, "weight_dtype").empty();
  if (one.skipped.empty() && unread) one.skipped = "a storage that is no choice of the key";
  const Plan plan = read_plan(given.share.text()).plan;
  if (plan.subject && plan.subject->nominal_parameters == 0) one.skip_for("the weights are not known");
}

}  // namespace

void add_named_check(const ServingMap& m, const json& check, Figure figure, std::vector<Measurement>& out) {
  const std::string unit = text(check, "unit");
  const bool counted = figure == Figure::parameters || figure == Figure::file_layers ||
                       figure == Figure::window_cells || figure == Figure::state_block;
  if (figure == Figure::concurrency || (!counted && bytes_of_unit(unit) == 0)) return;  // the former of every log
  ServingMap given = m;
  if (text(check, "name").find("_fa") != std::string::npos) given.share.set("flash", 1.0);
  set_ranks(given, text(check, "name"));
  const bool of_pool = figure == Figure::pool_and_table || figure == Figure::request_table ||
                       (figure == Figure::window_cells && m.engine != "llamacpp");
  if (of_pool) {
    const double pool = pool_of_check(m, figure);
    if (pool == 0 && figure == Figure::pool_and_table) return add_predicted_drop(m, check, out);
    if (pool == 0) return;
    given.share.set("measured_kv_pool", pool);
  }
  Measurement one = begin(given, text(check, "kind"), figure);
  one.measured = number(check, "measured") * std::max(power_of_unit(unit), bytes_of_unit(unit));
  one.unit = unit;
  const bool weights = figure == Figure::weights;
  if (weights) set_part_of_weights(m.c, check, one);
  if (weights && is_of_prose(m.c, check)) set_prose_size(check, one);
  if (weights && m.engine != "llamacpp" && holds_any(text(check, "name"), {"_offload"}) &&
      !holds_any(text(check, "name"), {"no_offload"}))
    one.skip_for("weights on the host are no choice of a key");
  if (weights || figure == Figure::head || figure == Figure::host_weights) skip_unknown_storage(given, one);
  out.push_back(std::move(one));
}

}  // namespace vram::accuracy
