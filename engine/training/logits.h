#pragma once

#include "engine/sheet.h"
#include "engine/training/pipeline.h"

namespace vram {

/// Copies of the logits, and what the final norm keeps, at the fullest moment of the loss. Only on the last stage.
Line logits_line(Sheet& sheet, const Plan& plan, const Stage& stage, bool in_loss);

/// Bytes that all copies of one logit take at that moment, by library and kind of loss.
double bytes_per_logit(const Plan& plan);

/// Copies of the logits have a block each: freed ones are cut up, and none of them fits again.
bool has_logit_blocks(const Plan& plan);
/// What those blocks take beyond the copies that live at once.
uint64_t logit_blocks_bytes(const Plan& plan);

}  // namespace vram
