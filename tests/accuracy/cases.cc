#include "tests/accuracy/cases.h"

#include <iterator>

#include "tests/accuracy/figures.h"
#include "tests/accuracy/map_serving.h"
#include "tests/accuracy/map_training.h"

namespace vram::accuracy {

std::vector<Measurement> measurements_of(const json& cases, const json& models) {
  std::vector<Measurement> out;
  if (!cases.is_array()) return out;
  for (const json& c : cases) {
    std::vector<Measurement> some = find(c, "engine") ? serving_measurements(c, models) : training_measurements(c);
    std::move(some.begin(), some.end(), std::back_inserter(out));
  }
  for (Measurement& one : out) answer(one);
  return out;
}

}  // namespace vram::accuracy
