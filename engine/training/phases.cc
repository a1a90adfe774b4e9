#include "engine/training/phases.h"

#include <algorithm>
#include <string_view>

#include "engine/training/activations.h"
#include "engine/training/gathered.h"
#include "engine/training/logits.h"
#include "engine/training/lora.h"
#include "engine/training/parameters.h"
#include "engine/training/states.h"
#include "engine/training/sum_line.h"

namespace vram {
namespace {

/// Gradients outlive a step in Megatron's, DeepSpeed's and FSDP2's buffers; elsewhere they are freed with zero_grad and
/// come back during backward, unless an earlier micro-batch left them.
bool keeps_gradients(const Plan& plan) {
  const bool freed = plan.framework == Framework::ddp || plan.framework == Framework::fsdp;
  return !freed || plan.micro_batches() > 1;
}

Line activations_of(const Plan& plan, const Stage& stage, PhaseKind phase) {
  switch (phase) {
    case PhaseKind::forward:
    case PhaseKind::loss:
      return activations_line(plan, stage, Moment::forward);
    case PhaseKind::backward:
      return activations_line(plan, stage, Moment::backward);
    case PhaseKind::reduce:
      return activations_line(plan, stage, Moment::last);
    case PhaseKind::optimizer:
      break;
  }
  return sum_line("activations", "Activations", {});
}

const char* phase_id(PhaseKind phase) {
  switch (phase) {
    case PhaseKind::forward:
      return "forward";
    case PhaseKind::loss:
      return "loss";
    case PhaseKind::backward:
      return "backward";
    case PhaseKind::reduce:
      return "reduce";
    case PhaseKind::optimizer:
      break;
  }
  return "optimizer";
}

Phase phase_at(const Plan& plan, const Stage& stage, const std::vector<ParameterGroup>& groups, PhaseKind kind) {
  const bool gradients = keeps_gradients(plan) || kind == PhaseKind::reduce || kind == PhaseKind::optimizer;
  Phase phase;
  phase.id = phase_id(kind);
  phase.lines = {weights_line(plan, groups),
                 gradients_line(plan, groups, gradients),
                 optimizer_line(plan, groups),
                 adapters_line(plan, stage),
                 activations_of(plan, stage, kind),
                 logits_line(plan, stage, kind == PhaseKind::loss),
                 gathered_line(plan, stage, groups, kind),
                 buffers_line(plan, groups, kind)};
  phase.allocated_bytes = total_bytes(phase.lines);
  return phase;
}

bool comes_and_goes(std::string_view id) { return id == "activations" || id == "logits" || id == "gathered"; }

}  // namespace

std::vector<Phase> stage_phases(const Plan& plan, const Stage& stage) {
  const std::vector<ParameterGroup> groups = stage_parameters(plan, stage);
  std::vector<PhaseKind> kinds = {PhaseKind::forward};
  if (stage.last && plan.subject->has_shape) kinds.push_back(PhaseKind::loss);
  kinds.insert(kinds.end(), {PhaseKind::backward, PhaseKind::reduce, PhaseKind::optimizer});
  std::vector<Phase> phases;
  for (PhaseKind kind : kinds) phases.push_back(phase_at(plan, stage, groups, kind));
  return phases;
}

const Phase& fullest(const std::vector<Phase>& phases) {
  return *std::max_element(phases.begin(), phases.end(),
                           [](const Phase& a, const Phase& b) { return a.allocated_bytes < b.allocated_bytes; });
}

uint64_t most_dynamic_bytes(const std::vector<Phase>& phases) {
  uint64_t most = 0;
  for (const Phase& phase : phases) {
    uint64_t bytes = 0;
    for (const Line& line : phase.lines)
      if (comes_and_goes(line.id)) bytes += line.bytes;
    most = std::max(most, bytes);
  }
  return most;
}

}  // namespace vram
