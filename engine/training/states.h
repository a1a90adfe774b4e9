#pragma once

#include <vector>

#include "engine/line.h"
#include "engine/training/parameters.h"

namespace vram {

/// Half-width of the error band of the lines that states make up (and so on): one set for every figure, which covered
/// 89% of 826 measured rows of sources left out of the fit.
inline constexpr double kStatesBand = 0.08, kActivationsBand = 0.2, kLogitsBand = 0.2, kOverheadsBand = 0.8;

/// Optimizer states, and the step itself, lie in host memory (`offload_fraction` of them).
bool offloads_optimizer(const Plan& plan);
/// "× 0.75 share kept on the GPU", where `offloaded`.
void push_kept_share(const Plan& plan, bool offloaded, std::vector<Factor>& factors);

/// What a stage keeps for its parameters, divided as ZeRO (arXiv 1910.02054, section 5) and offloading say.
Line weights_line(const Plan& plan, const std::vector<ParameterGroup>& groups);
/// `present` false: freed between steps, and not there yet.
Line gradients_line(const Plan& plan, const std::vector<ParameterGroup>& groups, bool present);
Line optimizer_line(const Plan& plan, const std::vector<ParameterGroup>& groups);

}  // namespace vram
