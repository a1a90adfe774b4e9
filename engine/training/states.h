#pragma once

#include <vector>

#include "engine/sheet.h"
#include "engine/training/parameters.h"

namespace vram {

/// Optimizer states, and the step itself, lie in host memory (`offload_fraction` of them).
bool offloads_optimizer(const Plan& plan);
/// "× 0.75 share kept on the GPU", where `offloaded`.
void push_kept_share(const Plan& plan, bool offloaded, Factors& factors);

/// Whether a frozen group is stored in the base's format: the linears of the layers; with litgpt the head, too, as its
/// plugin replaces every nn.Linear (Lightning, fabric/plugins/precision/bitsandbytes.py, _convert_layers).
bool is_quantised(const Plan& plan, const ParameterGroup& group);

/// Whether TransformerEngine multiplies a group in 8 or 4 bit: the linears of the layers, but routers.
bool multiplies_quantised(const Plan& plan, const ParameterGroup& group);

/// What a stage keeps for its parameters, divided as ZeRO (arXiv 1910.02054, section 5) and offloading say.
Line weights_line(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups);
/// The same before anything is divided or offloaded.
Line loaded_weights_line(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups);
/// `present` false: freed between steps, and not there yet.
Line gradients_line(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups, bool present);
Line optimizer_line(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups);

}  // namespace vram
