#pragma once

#include "engine/plan/plan.h"

namespace vram {

/// The way between the GPUs of a group.
struct Link {
  const char* name = "";  // "nvlink", "link", "pcie", "network"
  double gb_s = 0;        // what a GPU reaches of it, one direction
};

/// Ranks that work together: `size` of them, `stride` apart, in Megatron-LM's order (tp, cp, ep, dp, pp).
struct RankGroup {
  double size = 1, stride = 1;
  double span() const { return size * stride; }
};

/// For gathers and reductions. A group inside a node, or inside the GPUs that one NVLink domain joins, uses that link;
/// a larger one the network, where its rings enter and leave a node over the network cards of all its members there.
Link ring_link(const Plan& plan, const RankGroup& group);

/// For messages between pairs of ranks: each crosses the network over its own card.
Link pair_link(const Plan& plan, const RankGroup& group);

/// Members of a group that share a node.
double ranks_in_a_node(const Plan& plan, const RankGroup& group);

/// To host memory.
Link host_link(const Plan& plan);

/// GPUs that talk to each other without the network.
double joined_gpus(const Plan& plan);

}  // namespace vram
