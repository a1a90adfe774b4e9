#pragma once

#include <vector>

#include "engine/line.h"
#include "engine/training/parameters.h"

namespace vram {

enum class PhaseKind : uint8_t { forward, loss, backward, reduce, optimizer };

/// Weights in compute precision that a rank holds beside its own share: units gathered for computing (FSDP, ZeRO-3),
/// 16-bit copies of fp32 weights (autocast).
Line gathered_line(const Plan& plan, const Stage& stage, const std::vector<ParameterGroup>& groups, PhaseKind phase);

/// Optimizer temporaries, communication buckets, fp32 gradient copies, workspaces.
Line buffers_line(const Plan& plan, const Stage& stage, const std::vector<ParameterGroup>& groups, PhaseKind phase);

}  // namespace vram
