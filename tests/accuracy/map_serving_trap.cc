#include "tests/accuracy/map_serving_trap.h"

#include <cmath>

#include "engine/plan/plan.h"
#include "tests/accuracy/check_figure.h"
#include "tests/accuracy/map_serving_pool.h"
#include "tests/accuracy/serving_words.h"

namespace vram::accuracy {
namespace {

/// Of an engine that preallocates, the bytes of a token are what a wrong formula has wrong.
void add_token_trap(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string name = text(check, "name");
  const double tokens = cached_tokens(m.c, "");
  if (tokens == 0 || in_groups(m)) return;
  Measurement one = begin(m, "trap", Figure::trap);
  one.part = "token";
  one.measured =
      (name.starts_with("kv") ? 1 : 2) * number(check, "predicted") * bytes_of_unit(text(check, "unit")) / tokens;
  one.unit = "bytes a token";
  out.push_back(std::move(one));
}

}  // namespace

bool says_truth(const json& check) {
  const double predicted = number(check, "predicted"), measured = number(check, "measured");
  return predicted > 0 && std::fabs(predicted - measured) < 0.005 * measured;
}

void add_trap(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string name = text(check, "name");
  const NamedFigure* row = named_figure(name);
  const double bytes = bytes_of_unit(text(check, "unit"));
  const bool of_cache = name.starts_with("kv") || name.starts_with("k_") || name.starts_with("v_");
  if (of_cache && bytes > 0 && m.engine != "llamacpp") return add_token_trap(m, check, out);
  const bool cache = name.starts_with("kv") && bytes > 0 && m.engine == "llamacpp";
  if (!cache && (row == nullptr || (row->figure != Figure::weights && row->figure != Figure::concurrency))) return;
  ServingMap given = m;
  const bool weights = row != nullptr && row->figure == Figure::weights;
  if (!weights) given.share.set_if("measured_kv_pool", logged_pool_gib(m.c));
  Measurement one = begin(given, "trap", Figure::trap);
  const Plan plan = read_plan(given.share.text()).plan;
  if (weights && plan.subject && plan.subject->nominal_parameters == 0) one.skip_for("the weights are not known");
  one.part = cache ? "cache" : weights ? "" : "concurrency";
  one.measured = number(check, "predicted") * (cache || weights ? bytes : 1);
  one.unit = text(check, "unit");
  out.push_back(std::move(one));
}

}  // namespace vram::accuracy
