#pragma once

#include <vector>

#include "engine/training/saved_tensors.h"

namespace vram {

/// What a layer of one kind keeps until backward under the plan's recomputation.
struct LayerTensors {
  LayerSetting setting;
  SavedTensors whole;         // nothing recomputed
  SavedTensors selected;      // what selective recomputation leaves; else empty
  double whole_bytes = 0;     // a token on one rank
  double gradient_bytes = 0;  // a token on one rank, while the layer is differentiated
};

/// Every kind of layer of a model and its prediction modules, worked out once for all stages and phases.
struct ModelTensors {
  explicit ModelTensors(const Plan& plan);

  std::vector<LayerTensors> kinds, modules;
};

/// What backward computes again of the layer that it differentiates.
SavedTensors recomputed_tensors(const Plan& plan, const LayerTensors& layer);

}  // namespace vram
