#pragma once

#include <vector>

#include "engine/plan/plan.h"

namespace vram {

/// How a training job is spread over its GPUs, short of what each rank works on at once.
struct Spread {
  Framework framework = Framework::megatron;
  double tp = 1, pp = 1, vpp = 1, cp = 1, ep = 1, etp = 1, zero = 0;
  double shard = 0;  // ranks of one sharding group; 0 = all of them
};

/// A spread and what each rank works on at once: all that the search chooses.
struct Layout {
  Spread spread;
  Recompute recompute = Recompute::none;
  double micro_batch = 1;
};

// What is legal is what `training_faults` lets pass. What is sensible besides, by framework:
// - Megatron, FSDP2: tensor parallelism within the GPUs that NVLink joins; context parallelism (a power of two) where a
//   rank keeps 2,048 tokens; up to 64 pipeline stages, on Megatron in up to 8 chunks that divide the layers evenly.
// - Experts are spread over any divisor of their number up to 64; each on one GPU or on the tensor-parallel ones.
// - Megatron shards optimizer states (ZeRO 1). FSDP takes ZeRO 2 and 3, over all ranks or over those of a node;
//   DeepSpeed 0 to 3, with a pipeline 0 and 1, neither with tensor or context parallelism. DDP is tried beside FSDP.
// - Micro-batches divide a rank's share of the global batch, up to 64.
std::vector<Spread> spreads(const Plan& plan);

inline constexpr double kFewestTokensARank = 2048;  // of a sequence under context parallelism
inline constexpr double kMostMicroBatch = 64;

/// Micro-batches that a rank can work on, ascending, up to `most`.
std::vector<double> micro_batch_sizes(const Plan& plan, const Spread& spread, double most);

/// The plan laid out like that; everything else stays. Keys that belong to the old layout go.
void lay_out(const Layout& layout, Plan& plan);

/// The global batch at which layouts are compared where none is given: 8 sequences a GPU.
double compared_global_batch(const Plan& plan);

}  // namespace vram
