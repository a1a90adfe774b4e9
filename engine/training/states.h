#pragma once

#include <vector>

#include "engine/line.h"
#include "engine/training/parameters.h"

namespace vram {

/// Half-width of the error band of the lines that states make up (and so on), a share of the line: where one kind of
/// line is more than 60% of a measured figure, nine in ten of the figures are this near (393 rows of states, 68 of
/// activations, 31 of logits; sources left out of the fit). Gathered weights and buffers: as fitted before on 826 rows.
/// Fragmentation, context and communication: fitted on 157 rows of nvidia-smi, so that 84% lie inside.
inline constexpr double kStatesBand = 0.08, kActivationsBand = 0.08, kLogitsBand = 0.4, kBuffersBand = 0.8,
                        kOverheadsBand = 0.9;

/// Optimizer states, and the step itself, lie in host memory (`offload_fraction` of them).
bool offloads_optimizer(const Plan& plan);
/// "× 0.75 share kept on the GPU", where `offloaded`.
void push_kept_share(const Plan& plan, bool offloaded, Factors& factors);

/// Whether a frozen group is stored in the base's format: the linears of the layers; with litgpt the head, too, as its
/// plugin replaces every nn.Linear (Lightning, fabric/plugins/precision/bitsandbytes.py, _convert_layers).
bool is_quantised(const Plan& plan, const ParameterGroup& group);

/// What a stage keeps for its parameters, divided as ZeRO (arXiv 1910.02054, section 5) and offloading say.
Line weights_line(const Plan& plan, const std::vector<ParameterGroup>& groups);
/// `present` false: freed between steps, and not there yet.
Line gradients_line(const Plan& plan, const std::vector<ParameterGroup>& groups, bool present);
Line optimizer_line(const Plan& plan, const std::vector<ParameterGroup>& groups);

}  // namespace vram
