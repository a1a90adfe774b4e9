#pragma once

#include <vector>

#include "engine/training/pipeline.h"
#include "engine/training/schedule.h"

namespace vram {

/// A pass with its time, in units of arithmetic: multiply-adds a token of its layers.
struct TimedPass {
  Pass pass;
  double begin = 0, end = 0;
};

/// Multiply-adds of a token in one layer's forward pass, and in the head's.
double layer_work(const Plan& plan, size_t layer);
double head_work(const Plan& plan);
/// A pass's work as a multiple of forward's: backward has gradients of inputs and of weights, and computes again what
/// was not kept.
double work_share(const Plan& plan, const Pass& pass);

/// The passes of every rank for so many micro-batches: each begins when its rank is free and its input is there
/// (activations from the chunk before, gradients from the chunk behind; sending takes no time).
std::vector<std::vector<TimedPass>> simulate(const Plan& plan, const std::vector<Stage>& stages, int micro_batches);

}  // namespace vram
