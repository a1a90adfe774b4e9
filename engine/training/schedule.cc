#include "engine/training/schedule.h"

#include <algorithm>
#include <array>

namespace vram {
namespace {

constexpr PassKind F = PassKind::forward, B = PassKind::backward, W = PassKind::weights;

bool interleaves(const Plan& plan) { return plan.schedule == Schedule::interleaved && plan.vpp > 1 && plan.pp > 1; }
bool runs_both_ways(const Plan& plan) { return plan.schedule == Schedule::dualpipe && plan.pp > 1; }

/// arXiv 1811.06965, section 2.3.
std::vector<Pass> gpipe(int m) {
  std::vector<Pass> passes;
  for (int i = 0; i < m; ++i) passes.push_back({F, i});
  for (int i = 0; i < m; ++i) passes.push_back({B, i, 0, true});
  return passes;
}

/// arXiv 2104.04473, section 2.2.1: as many forward passes as ranks follow, then one of each.
std::vector<Pass> one_f_one_b(int m, int p, int k) {
  std::vector<Pass> passes;
  const int warm_up = std::min(m, p - k - 1);
  for (int i = 0; i < warm_up; ++i) passes.push_back({F, i});
  for (int i = 0; i < m; ++i) {
    if (warm_up + i < m) passes.push_back({F, warm_up + i});
    passes.push_back({B, i, 0, true});
  }
  return passes;
}

/// Megatron-LM, core/pipeline_parallel/schedules.py, forward_backward_pipelining_with_interleaving: groups of p
/// micro-batches pass one chunk after the other.
std::vector<Pass> interleaved(int m, int p, int v, int k) {
  std::vector<Pass> passes;
  const int all = m * v, warm_up = std::min(all, 2 * (p - k - 1) + (v - 1) * p);
  const auto pass = [&](PassKind kind, int index) {
    const int chunk = index / p % v, micro_batch = index / (p * v) * p + index % p;
    passes.push_back({kind, micro_batch, kind == F ? chunk : v - 1 - chunk, kind == B});
  };
  for (int i = 0; i < warm_up; ++i) pass(F, i);
  for (int i = 0; i < all; ++i) {
    if (warm_up + i < all) pass(F, warm_up + i);
    pass(B, i);
  }
  return passes;
}

/// ZB-H1, arXiv 2401.10241, section 3: 1F1B, with weight gradients put off by as many micro-batches as ranks precede.
std::vector<Pass> zero_bubble(int m, int p, int k) {
  std::vector<Pass> passes;
  const int warm_up = std::min(m, p - k - 1);
  for (int i = 0; i < warm_up; ++i) passes.push_back({F, i});
  for (int i = 0; i < m; ++i) {
    if (warm_up + i < m) passes.push_back({F, warm_up + i});
    passes.push_back({B, i});
    if (i >= k) passes.push_back({W, i - k, 0, true});
  }
  for (int i = std::max(0, m - k); i < m; ++i) passes.push_back({W, i, 0, true});
  return passes;
}

/// github.com/deepseek-ai/DualPipe, dualpipe/dualpipe.py, step(): its eight steps, by their numbers.
class DualPipe {
 public:
  DualPipe(int m, int p, int k) : second_half_(k >= p / 2), half_(p / 2), rank_(std::min(k, p - 1 - k)) {
    const int before = half_ - rank_ - 1;                    // ranks between this one and the middle
    for (int i = 0; i < 2 * before; ++i) forward(0);         // 1
    for (int i = 0; i < rank_ + 1; ++i) both_forward();      // 2
    for (int i = 0; i < before; ++i) refill();               // 3
    for (int i = 0; i < m / 2 - p + rank_ + 1; ++i) main();  // 4
    for (int i = 0; i < before; ++i) drain();                // 5
    last_backwards();                                        // 6
    for (int i = 0; i < before; ++i) {                       // 7
      weights();
      backward(0, true);
    }
    for (int i = 0; i < rank_ + 1; ++i) weights();  // 8
  }
  std::vector<Pass> take() { return std::move(passes_); }

 private:
  int direction(int phase) const { return second_half_ ? 1 - phase : phase; }
  void forward(int phase) {
    const int chunk = direction(phase);
    passes_.push_back({F, forwards_[static_cast<size_t>(chunk)]++, chunk});
  }
  void backward(int phase, bool puts_off) {
    const int chunk = direction(phase);
    passes_.push_back({B, backwards_[static_cast<size_t>(chunk)]++, chunk, !puts_off});
    if (puts_off) put_off_.push_back({W, passes_.back().micro_batch, chunk, true});
  }
  void weights() {
    if (next_ < put_off_.size()) passes_.push_back(put_off_[next_++]);
  }
  void both_forward() {
    forward(0);
    forward(1);
  }
  void refill() {
    backward(1, true);
    weights();
    forward(1);
  }
  void main() {
    forward(0);
    backward(1, false);
    forward(1);
    backward(0, false);
  }
  void drain() {
    backward(1, false);
    forward(1);
    backward(0, false);
  }
  void last_backwards() {
    bool puts_off = false;
    for (int i = 0; i < rank_ + 1; ++i) {
      const bool middle = i == (rank_ + 1) / 2;
      puts_off |= middle && rank_ % 2 == 1;
      backward(1, puts_off);
      puts_off |= middle && rank_ % 2 == 0;
      backward(0, puts_off);
    }
  }

  bool second_half_;
  int half_, rank_;
  std::vector<Pass> passes_, put_off_;
  size_t next_ = 0;
  std::array<int, 2> forwards_{}, backwards_{};
};

}  // namespace

std::vector<Pass> rank_passes(const Plan& plan, int rank, int micro_batches) {
  const int p = static_cast<int>(plan.pp), v = static_cast<int>(plan.vpp);
  if (plan.schedule == Schedule::gpipe) return gpipe(micro_batches);
  if (interleaves(plan)) return interleaved(micro_batches, p, v, rank);
  if (plan.schedule == Schedule::zerobubble && p > 1) return zero_bubble(micro_batches, p, rank);
  if (runs_both_ways(plan)) return DualPipe(micro_batches, p, rank).take();
  return one_f_one_b(micro_batches, p, rank);
}

int chunk_position(const Plan& plan, int rank, int chunk) {
  const int p = static_cast<int>(plan.pp);
  if (runs_both_ways(plan)) return chunk == 0 ? rank : p - 1 - rank;
  return interleaves(plan) ? chunk * p + rank : rank;
}

int chunks_on_the_way(const Plan& plan) { return static_cast<int>(interleaves(plan) ? plan.pp * plan.vpp : plan.pp); }

}  // namespace vram
