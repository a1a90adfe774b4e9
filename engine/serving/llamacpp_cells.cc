#include "engine/serving/llamacpp_cells.h"

#include <algorithm>

#include "engine/serving/llamacpp.h"

namespace vram {
namespace {

/// llama.cpp's cells come in steps of 256; in builds before 2025-11 of 32 without flash attention (llama-context.cpp).
double cell_step(const Plan& plan) { return plan.flash ? 256 : 32; }

/// Cells of windows and one micro-batch, at most the whole context (src/llama-kv-cache-iswa.cpp, size_swa).
double window_cells(const Plan& plan, double window, double slots, double tokens) {
  return round_up(std::min(slots * round_up(tokens, cell_step(plan)), slots * window + plan.ubatch), cell_step(plan));
}

/// One cache for all slots has one micro-batch beyond all windows; apart, each slot has its own.
bool shares_micro_batch(const Plan& plan) {
  return plan.engine == Engine::llamacpp && plan.unified && plan.concurrency > 1;
}

}  // namespace

double llamacpp_cells(const Plan& plan) {
  const double tokens = std::max(1.0, (plan.unified ? plan.concurrency : 1) * request_tokens(plan));
  return round_up(tokens, std::max(plan.block, cell_step(plan)));
}

double llamacpp_window_cells(const Plan& plan) {
  const double window = plan.subject->architecture.window;
  if (window <= 0 || !keeps_windows(*plan.subject)) return 0;
  const double slots = shares_micro_batch(plan) ? plan.concurrency : 1, tokens = request_tokens(plan);
  if (!frees_windows(plan)) return round_up(slots * tokens, cell_step(plan));  // a mask of their own over all cells
  return window_cells(plan, window, slots, tokens);
}

double cells_kept(const Plan& plan, const CacheGroup& group, double tokens, double block) {
  const double step = std::max(block, cell_step(plan)), slots = shares_micro_batch(plan) ? plan.concurrency : 1;
  if (group.window <= 0) return round_up(slots * tokens, step) / slots;
  return shares_micro_batch(plan) ? std::min(group.window, tokens) : window_cells(plan, group.window, 1, tokens);
}

double window_surplus_tokens(const Plan& plan, const CacheGroup& group) {
  const double tokens = request_tokens(plan), slots = plan.concurrency;
  if (!shares_micro_batch(plan) || group.window <= 0 || group.window >= tokens) return 0;
  return std::max(0.0, window_cells(plan, group.window, slots, tokens) - slots * group.window);
}

}  // namespace vram
