#include "engine/serving/weight_section.h"

#include "engine/model/layer_shape.h"

namespace vram {

WeightSection section_of(const Matrix& matrix) {
  switch (matrix.part) {
    case Part::q:
    case Part::k:
    case Part::v:
    case Part::qkv_other:
    case Part::o:
      return WeightSection::attention;
    case Part::gate:
    case Part::up:
    case Part::down:
    case Part::shared_gate:
    case Part::shared_up:
    case Part::shared_down:
      return WeightSection::mlp;
    case Part::expert_gate:
    case Part::expert_up:
    case Part::expert_down:
      return WeightSection::experts;
    case Part::linear_mixer:
      return WeightSection::mixer;
    case Part::embedding:
    case Part::position:
      return WeightSection::embedding;
    case Part::layer_embedding:
      return WeightSection::layer_embedding;
    case Part::head:
      return WeightSection::head;
    default:
      return WeightSection::vectors;
  }
}

}  // namespace vram
