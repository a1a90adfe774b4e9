#include "engine/training/phases.h"

#include <algorithm>
#include <string_view>

#include "engine/training/activations.h"
#include "engine/training/logits.h"
#include "engine/training/lora.h"
#include "engine/training/parameters.h"
#include "engine/training/states.h"
#include "engine/training/sum_line.h"

namespace vram {
namespace {

/// Places of a phase's lines.
enum Place : size_t { weights, gradients, optimizer, adapters, activations, logits, gathered, buffers };

/// Gradients outlive a step in Megatron's, DeepSpeed's and FSDP2's buffers; elsewhere they are freed with zero_grad and
/// come back during backward, unless an earlier micro-batch left them.
bool has_gradients(const Plan& plan, PhaseKind phase) {
  if (phase == PhaseKind::reduce || phase == PhaseKind::optimizer) return true;
  const bool freed = plan.framework == Framework::ddp || plan.framework == Framework::fsdp;
  return !freed || plan.micro_batches() > 1;
}

Line activations_of(const Plan& plan, const Stage& stage, const ModelTensors& tensors, PhaseKind phase) {
  switch (phase) {
    case PhaseKind::forward:
    case PhaseKind::loss:
      return activations_line(plan, stage, tensors, Moment::forward);
    case PhaseKind::backward:
      return activations_line(plan, stage, tensors, Moment::backward);
    case PhaseKind::reduce:
      return activations_line(plan, stage, tensors, Moment::last);
    case PhaseKind::optimizer:
      break;
  }
  return sum_line("activations", "Activations", {});
}

}  // namespace

StageLedger::StageLedger(const Plan& plan, const Stage& stage, const ModelTensors& tensors) {
  const Subject subject{plan, stage, tensors, stage_parameters(plan, stage)};
  pool_.reserve(24);
  add_phase(subject, PhaseKind::forward);
  if (stage.last && plan.subject->has_shape) add_phase(subject, PhaseKind::loss);
  for (PhaseKind kind : {PhaseKind::backward, PhaseKind::reduce, PhaseKind::optimizer}) add_phase(subject, kind);
  if (stage.last) logit_blocks_ = logit_blocks_bytes(plan);
}

size_t StageLedger::keep(Line line) {
  pool_.push_back(std::move(line));
  return pool_.size() - 1;
}

/// Lines that are as in the phase before are not made again.
void StageLedger::add_phase(const Subject& subject, PhaseKind kind) {
  const auto& [plan, stage, tensors, groups] = subject;
  const bool first = kinds_.empty();
  const PhaseKind last = first ? kind : kinds_.back();
  Places p = first ? Places{} : places_.back();
  if (first) {
    p[weights] = keep(weights_line(plan, groups));
    p[optimizer] = keep(optimizer_line(plan, groups));
    p[adapters] = keep(adapters_line(plan, stage));
  }
  if (first || has_gradients(plan, kind) != has_gradients(plan, last))
    p[gradients] = keep(gradients_line(plan, groups, has_gradients(plan, kind)));
  if (first || kind != PhaseKind::loss) p[activations] = keep(activations_of(plan, stage, tensors, kind));
  p[gathered] = keep(gathered_line(plan, stage, groups, kind));
  if (first || kind == PhaseKind::loss || last == PhaseKind::loss)
    p[logits] = keep(logits_line(plan, stage, kind == PhaseKind::loss));
  if (first || kind == PhaseKind::loss || last == PhaseKind::loss || kind >= PhaseKind::reduce)
    p[buffers] = keep(buffers_line(plan, stage, groups, kind));
  kinds_.push_back(kind);
  places_.push_back(p);
}

size_t StageLedger::peak() const {
  size_t peak = 0;
  for (size_t i = 1; i < places_.size(); ++i)
    if (allocated_bytes(i) > allocated_bytes(peak)) peak = i;
  return peak;
}

const char* StageLedger::id(size_t phase) const {
  switch (kinds_[phase]) {
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

uint64_t StageLedger::allocated_bytes(size_t phase) const {
  uint64_t sum = 0;
  for (size_t place : places_[phase]) sum += pool_[place].bytes;
  return sum;
}

std::vector<Line> StageLedger::lines(size_t phase) const {
  std::vector<Line> lines;
  lines.reserve(places_[phase].size() + 3);  // fragmentation, context and communication follow
  for (size_t place : places_[phase]) lines.push_back(pool_[place]);
  return lines;
}

std::vector<Phase> StageLedger::phases() const {
  std::vector<Phase> phases;
  phases.reserve(places_.size());
  for (size_t i = 0; i < places_.size(); ++i) phases.push_back({id(i), allocated_bytes(i), lines(i)});
  return phases;
}

uint64_t StageLedger::steady_bytes(const Plan& plan) const {
  const Places& last = places_.back();
  uint64_t sum = pool_[last[weights]].bytes + pool_[last[optimizer]].bytes + pool_[last[adapters]].bytes;
  // PyTorch's zero_grad frees them where nothing shards or reduces them (measured: 6 bytes a parameter stay on one GPU,
  // 8 and 16 with FSDP).
  const bool frees_gradients = plan.framework == Framework::ddp && plan.gpus == 1;
  if (!frees_gradients) sum += pool_[last[gradients]].bytes;
  for (const Line& line : pool_[last[adapters]].children)
    if (frees_gradients && std::string_view(line.id) == "gradients") sum -= line.bytes;
  for (const Line& line : pool_[last[buffers]].children)
    for (std::string_view kept : {"workspace", "quantised_weights", "stage_inputs"})
      if (line.id == kept) sum += line.bytes;
  return sum;
}

Holdings StageLedger::holdings() const {
  const auto most = [this](Place place) {
    uint64_t bytes = 0;
    for (const Places& p : places_) bytes = std::max(bytes, pool_[p[place]].bytes);
    return bytes;
  };
  const uint64_t lasting_buffers = pool_[places_.front()[buffers]].bytes;
  Holdings held;
  held.allocated = allocated_bytes(peak());
  for (Place place : {weights, gradients, optimizer, adapters}) held.lasting += most(place);
  held.lasting += lasting_buffers;
  for (size_t i = 0; i < places_.size(); ++i) {
    const Places& p = places_[i];
    const uint64_t dynamic = pool_[p[activations]].bytes + pool_[p[logits]].bytes + pool_[p[gathered]].bytes;
    held.dynamic = std::max(held.dynamic, dynamic);
    held.with_blocks = std::max(held.with_blocks, dynamic + (kinds_[i] == PhaseKind::loss ? logit_blocks_ : 0));
  }
  held.step = std::max(most(buffers), lasting_buffers) - lasting_buffers;
  return held;
}

}  // namespace vram
