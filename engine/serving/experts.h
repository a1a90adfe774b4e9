#pragma once

namespace vram {

/// Share of the experts that `batch` tokens touch: 1 - (1 - k/E)^batch, tokens choosing evenly and apart.
double touched_experts(double experts, double experts_per_token, double batch);

/// Share of its own experts that the fullest of `ranks` reads, where each expert is touched with the chance `touched`:
/// the others wait for it.
double fullest_rank(double experts, double ranks, double touched);

}  // namespace vram
