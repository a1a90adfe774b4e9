#pragma once

#include "engine/model/architecture.h"

namespace vram {

/// Window layers get a pool of their own (srt/configs/model_config.py, is_hybrid_swa_model); other models' keep every
/// token.
bool has_window_pool(const Architecture& a);

/// Tokens of that pool, as a share of the full layers' (srt/server_args.py, swa_full_tokens_ratio).
inline constexpr double kWindowPoolRatio = 0.8;

}  // namespace vram
