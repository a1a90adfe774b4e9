#pragma once

#include "engine/serving/cache_groups.h"

namespace vram {

/// Cells of llama.cpp's cache that one token may look at: all of a unified one.
double llamacpp_cells(const Plan& plan);
/// Cells of llama.cpp's window layers that one token may look at; 0 where they have no cache of their own.
double llamacpp_window_cells(const Plan& plan);

/// Tokens of a request of `tokens` that a group keeps in llama.cpp, in whole cells.
double cells_kept(const Plan& plan, const CacheGroup& group, double tokens, double block);
/// Cells beside those of all requests' windows: one micro-batch of a cache that all slots share.
double window_surplus_tokens(const Plan& plan, const CacheGroup& group);

}  // namespace vram
