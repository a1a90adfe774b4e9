#pragma once

#include "engine/compute/rates.h"

namespace vram {

/// Seconds of one pass on one GPU.
struct PassSeconds {
  double matrices = 0;   // matrix products
  double attention = 0;  // core attention
  double memory = 0;     // what memory bandwidth bounds: norms, activations, casts, score matrices, recurrences
  double total() const { return matrices + attention + memory; }
};

/// What one micro-batch costs a GPU of an average pipeline stage, without messages.
struct MicroBatchWork {
  PassSeconds forward, backward;
  PassSeconds repeated;         // recomputation
  double weight_gradients = 0;  // the part of backward's matrices that waits for no other rank
  double head = 0;              // head and loss, in the passes above
  double host = 0;              // what launching all its kernels takes
  double total() const { return forward.total() + backward.total() + repeated.total(); }
};

MicroBatchWork micro_batch_work(const Plan& plan, const Rates& rates);

}  // namespace vram
