#pragma once

#include <vector>

#include "engine/sheet.h"
#include "engine/training/parameters.h"

namespace vram {

enum class PhaseKind : uint8_t { load, forward, loss, backward, reduce, optimizer };

/// What FSDP gathers: the parameters of the unit around the layers, and of the largest layer, each group by group.
/// Without any where nothing is gathered by units.
struct GatheredUnits {
  std::vector<ParameterGroup> root, layer;
};
GatheredUnits gathered_units(const Plan& plan, const Stage& stage);

/// Weights in compute precision that a rank holds beside its own share: units gathered for computing (FSDP, ZeRO-3),
/// 16-bit copies of fp32 weights (autocast).
Line gathered_line(Sheet& sheet, const Plan& plan, const Stage& stage, const std::vector<ParameterGroup>& groups,
                   const GatheredUnits& units, PhaseKind phase);

/// What matrix products work in: alike on every stage and in every phase.
Line workspace_line(Sheet& sheet, const Plan& plan);

/// Buffers that are alike in every phase of a stage: the workspace, quantised weights.
LineList lasting_buffers(Sheet& sheet, const Plan& plan, const Stage& stage, const std::vector<ParameterGroup>& groups,
                         const Line& workspace);

/// Those, optimizer temporaries, communication buckets, fp32 gradient copies.
Line buffers_line(Sheet& sheet, const Plan& plan, const Stage& stage, const std::vector<ParameterGroup>& groups,
                  Lines lasting, PhaseKind phase);

}  // namespace vram
