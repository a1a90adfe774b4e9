#pragma once

#include "engine/plan/plan.h"

namespace vram {

/// Window layers get a pool of their own (srt/configs/model_config.py, is_hybrid_swa_model); other models' keep every
/// token.
bool has_window_pool(const Architecture& a);

/// Tokens of that pool, as a share of the full layers' (srt/server_args.py, swa_full_tokens_ratio).
inline constexpr double kWindowPoolRatio = 0.8;

/// What is left of mem_fraction_static on AMD, whose attention backend takes more: 1 elsewhere.
double kept_fraction(const Plan& plan);

}  // namespace vram
