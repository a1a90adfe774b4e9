#pragma once

#include "engine/training/pipeline.h"

namespace vram {

/// LLaMA-Adapter (arXiv 2303.16199): prompts before the keys and values of all layers but the first two, gated a head;
/// its second version (arXiv 2304.15010) also a bias and a scale of every linear's outputs, and the norms.
inline bool trains_prompts(const Plan& plan) {
  return plan.method == Method::adapter || plan.method == Method::adapter_v2;
}

/// Their parameters on one rank, before ZeRO.
double prompt_parameters(const Plan& plan, const Stage& stage);

/// Layers of a kind that backward reaches: all, but those below the lowest prompt where nothing else is trained.
double differentiated_layers(const Plan& plan, const Stage& stage, size_t kind);

}  // namespace vram
