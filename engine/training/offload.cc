#include "engine/training/offload.h"

#include <algorithm>

#include "engine/training/activations.h"
#include "engine/training/gathered.h"
#include "engine/training/parameters.h"
#include "engine/training/states.h"

namespace vram {
namespace {

/// States, and the copies of gradients that the host's optimizer reads.
uint64_t state_bytes(const Plan& plan, const Stage& stage) {
  const std::vector<ParameterGroup> groups = stage_parameters(plan, stage);
  return weights_line(plan, groups).bytes + gradients_line(plan, groups, true).bytes +
         optimizer_line(plan, groups).bytes + buffers_line(plan, stage, groups, PhaseKind::reduce).bytes;
}

/// What one rank of the stage puts into host memory.
double offloaded_bytes(const Plan& plan, const Stage& stage, const ModelTensors& tensors) {
  if (plan.offload == Offload::activations) return offloaded_activation_bytes(plan, stage, tensors);
  Plan kept = plan;
  kept.offload = Offload::none;
  const uint64_t all = state_bytes(kept, stage), rest = state_bytes(plan, stage);
  return static_cast<double>(all) - static_cast<double>(rest);
}

}  // namespace

std::optional<uint64_t> host_bytes_per_node(const Plan& plan) {
  if (plan.offload == Offload::none) return std::nullopt;
  const ModelTensors tensors(plan);
  double most = 0;
  for (const Stage& stage : pipeline_stages(plan)) most = std::max(most, offloaded_bytes(plan, stage, tensors));
  return static_cast<uint64_t>(most * std::min(plan.node, plan.gpus));
}

}  // namespace vram
