#pragma once

#include "engine/plan/plan.h"

namespace vram {

/// Time of a pass of `tokens` that no bandwidth buys back: the kernels of its mixers and MLPs, and of routing to
/// experts.
double kernel_seconds(const Plan& plan, double tokens = 1);

/// What the host takes to launch a pass kernel by kernel, where no graph is replayed: a prompt's, and a step's of a
/// server that runs without graphs. 0 where graphs are replayed.
double prompt_launch_seconds(const Plan& plan);
double loaded_launch_seconds(const Plan& plan);  // a prompt's beside steps
double step_launch_seconds(const Plan& plan);

/// Mixers and MLPs: two a layer, but one where layers are either (Nemotron-H). A model without a shape has none.
double half_layers(const Model& model);

}  // namespace vram
