#include "engine/training/offload.h"

#include <algorithm>

#include "engine/training/activations.h"
#include "engine/training/gathered.h"
#include "engine/training/lora.h"
#include "engine/training/parameters.h"
#include "engine/training/states.h"
#include "engine/training/storage.h"

namespace vram {
namespace {

/// States, and what DeepSpeed keeps of gradients for the optimizer.
uint64_t state_bytes(const Plan& plan, const Stage& stage) {
  Sheet sheet(Detail::totals);
  const std::vector<ParameterGroup> groups = stage_parameters(plan, stage);
  return weights_line(sheet, plan, groups).bytes + gradients_line(sheet, plan, groups, true).bytes +
         optimizer_line(sheet, plan, groups).bytes + adapters_line(sheet, plan, stage).bytes +
         buffers_line(sheet, plan, stage, groups,
                      lasting_buffers(sheet, plan, stage, groups, workspace_line(sheet, plan)), PhaseKind::reduce)
             .bytes;
}

/// Where gradients stay on the GPU, the host's optimizer has a copy of them in the precision of the weights that it
/// updates (Megatron-LM, core/optimizer/cpu_offloading/hybrid_optimizer.py, cpu_copy_map_grad; torchao,
/// optim/cpu_offload.py). DeepSpeed's are in its own account.
double gradient_copies(const Plan& plan, const Stage& stage) {
  if (plan.offload != Offload::optimizer || plan.framework == Framework::deepspeed || !trains_all(plan)) return 0;
  const Storage storage = storage_of(plan);
  const double bits = storage.master > 0 ? storage.master : storage.weight;
  double bytes = 0;
  for (const ParameterGroup& g : stage_parameters(plan, stage))
    if (g.trained) bytes += elements_a_rank(plan, g) * bits / 8 / (plan.zero >= 1 ? g.shards : 1);
  return bytes * plan.offload_fraction;
}

/// What one rank of the stage puts into host memory.
double offloaded_bytes(const Plan& plan, const Stage& stage, const ModelTensors& tensors) {
  if (plan.offload == Offload::activations) return offloaded_activation_bytes(plan, stage, tensors);
  Plan kept = plan;
  kept.offload = Offload::none;
  const uint64_t all = state_bytes(kept, stage), rest = state_bytes(plan, stage);
  return static_cast<double>(all) - static_cast<double>(rest) + gradient_copies(plan, stage);
}

}  // namespace

std::optional<uint64_t> host_bytes_per_node(const Plan& plan) {
  if (plan.offload == Offload::none) return std::nullopt;
  const ModelTensors tensors(plan);
  const std::vector<Stage> stages = pipeline_stages(plan);
  double most = 0;
  for (size_t i = 0; i < stages.size(); ++i)
    if (!outdone(plan, std::span(stages).first(i), stages[i]))
      most = std::max(most, offloaded_bytes(plan, stages[i], tensors));
  return static_cast<uint64_t>(most * std::min(plan.node, plan.gpus));
}

}  // namespace vram
