#pragma once

#include "engine/sheet.h"
#include "engine/training/pipeline.h"

namespace vram {

/// Whether `lora_targets` puts an adapter beside this matrix.
bool is_adapted(LoraTargets targets, const Matrix& matrix);

/// Weights, gradients and moments of the adapters (and of embeddings trained beside them) on one rank.
Line adapters_line(Sheet& sheet, const Plan& plan, const Stage& stage);

/// Of that line, what the weights are made of.
LineList adapter_weights(Sheet& sheet, const Plan& plan, const Stage& stage);

/// Parameters of the adapters of one rank, before ZeRO; embeddings trained beside them.
double adapter_parameters(const Plan& plan, const Stage& stage);
double trained_embedding_parameters(const Plan& plan, const Stage& stage);

}  // namespace vram
