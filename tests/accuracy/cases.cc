#include "tests/accuracy/cases.h"

#include <iterator>
#include <limits>

#include "tests/accuracy/figures.h"
#include "tests/accuracy/map_activations.h"
#include "tests/accuracy/map_serving.h"
#include "tests/accuracy/map_training.h"

namespace vram::accuracy {
namespace {

double number_or_infinite(const json& c, const char* name) {
  return text(c, name) == "inf" ? std::numeric_limits<double>::infinity() : number(c, name);
}

/// A case of tests/cases: already a plan.
Measurement own_measurement(const json& c) {
  Measurement out;
  out.id = text(c, "id");
  out.family = text(c, "family");
  out.source = text(c, "source");
  out.share = text(c, "share");
  out.requests = number(c, "requests");
  out.rate = number_or_infinite(c, "rate");
  out.waiting = number(c, "waiting");
  out.of_tokens = flag(c, "of_tokens").value_or(false);
  out.of_steps = flag(c, "of_steps").value_or(false);
  out.apart = flag(c, "apart").value_or(false);
  out.longest = number_or_infinite(c, "longest");
  out.part = text(c, "part");
  out.unit = text(c, "unit");
  out.best = text(c, "tier") == "A";
  out.measured = number(c, "measured");
  out.tokens_per_second = number(c, "tokens_per_second");
  out.largest_layer = number(c, "largest_layer");
  out.relative_to = number(c, "relative_to");
  out.rounding = number(c, "rounding");
  out.reading = reading_of_name(text(c, "reading"));
  if (!figure_of(text(c, "figure"), &out.figure)) out.skipped = "an unknown figure";
  return out;
}

std::vector<Measurement> mapped(const json& c, const json& models) {
  if (find(c, "share")) return {own_measurement(c)};
  if (find(c, "engine")) return serving_measurements(c, models);
  if (find(c, "implementation")) return activation_measurements(c);
  return training_measurements(c);
}

}  // namespace

void set_bounds(const json& file, std::vector<Score>& scores) {
  const json* bounds = find(file, "bounds");
  if (!bounds || !bounds->is_array()) return;
  for (const json& bound : *bounds)
    for (Score& score : scores) {
      if (score.family != text(bound, "family") || text(bound, "figure") != figure_name(score.figure)) continue;
      score.has_bound = true;
      score.bound_median = number(bound, "median");
      score.bound_p90 = number(bound, "p90");
    }
}

std::vector<Measurement> measurements_of(const json& file, const json& models) {
  std::vector<Measurement> out;
  const json* cases = file.is_object() ? find(file, "cases") : &file;
  if (!cases || !cases->is_array()) return out;
  for (const json& c : *cases) {
    std::vector<Measurement> some = mapped(c, models);
    std::move(some.begin(), some.end(), std::back_inserter(out));
  }
  for (Measurement& one : out) answer(one);
  return out;
}

}  // namespace vram::accuracy
