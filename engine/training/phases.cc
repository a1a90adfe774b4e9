#include "engine/training/phases.h"

#include <algorithm>
#include <string_view>

#include "engine/sheet.h"
#include "engine/training/activations.h"
#include "engine/training/logits.h"
#include "engine/training/lora.h"
#include "engine/training/parameters.h"
#include "engine/training/states.h"
#include "engine/training/storage.h"

namespace vram {
namespace {

/// Places of a phase's lines.
enum Place : size_t { weights, gradients, optimizer, adapters, activations, logits, gathered, buffers };

constexpr size_t kMostPhases = 6;

/// Loading is a phase where a GPU then has what it does not keep; elsewhere it has a part of what the step holds.
bool loads_more(const Plan& plan, const std::vector<ParameterGroup>& groups) {
  const auto divided = [](const ParameterGroup& group) { return group.shards > 1; };
  return plan.load_whole && (std::any_of(groups.begin(), groups.end(), divided) || plan.offload == Offload::all);
}

/// Gradients outlive a step in Megatron's and DeepSpeed's buffers; elsewhere they are freed with zero_grad and come
/// back during backward, unless an earlier micro-batch of that length left them.
bool has_gradients(const Plan& plan, PhaseKind phase) {
  if (phase == PhaseKind::reduce || phase == PhaseKind::optimizer) return true;
  const bool kept = plan.framework == Framework::megatron || plan.framework == Framework::deepspeed;
  return kept || (plan.micro_batches() > 1 && !plan.longest_first);
}

/// Which of the activations' lines a phase has; kMoments: none.
size_t moment_of(PhaseKind phase) {
  switch (phase) {
    case PhaseKind::forward:
    case PhaseKind::loss:
      return static_cast<size_t>(Moment::forward);
    case PhaseKind::backward:
      return static_cast<size_t>(Moment::backward);
    case PhaseKind::reduce:
      return static_cast<size_t>(Moment::last);
    case PhaseKind::load:
    case PhaseKind::optimizer:
      break;
  }
  return kMoments;
}

const char* phase_id(PhaseKind phase) {
  switch (phase) {
    case PhaseKind::load:
      return "load";
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

}  // namespace

uint64_t PhaseAmounts::allocated_bytes() const {
  uint64_t sum = 0;
  for (const Amount& line : lines) sum += line.bytes;
  return sum;
}

StageLedger::StageLedger(const Plan& plan, const Stage& stage, const ModelTensors& tensors, WorkingLayers& layers,
                         const Line& workspace, Sheet& sheet)
    : sheet_(sheet),
      activations_(plan, stage, tensors, layers),
      no_activations_(sheet.nothing("activations", "Activations")) {
  const std::vector<ParameterGroup> groups = stage_parameters(plan, stage);
  const Subject subject{plan, stage, groups, gathered_units(plan, stage),
                        lasting_buffers(sheet, plan, stage, groups, workspace)};
  pool_.reserve(kPhaseLines + 3 + (plan.load_whole ? kPhaseLines : 0));
  kinds_.reserve(kMostPhases);
  places_.reserve(kMostPhases);
  if (loads_more(plan, groups)) add_load(plan, groups);
  add_phase(subject, PhaseKind::forward);
  if (stage.last && plan.subject->has_shape) add_phase(subject, PhaseKind::loss);
  for (PhaseKind kind : {PhaseKind::backward, PhaseKind::reduce, PhaseKind::optimizer}) add_phase(subject, kind);
  has_logit_blocks_ = has_logit_blocks(plan);
  if (stage.last) logit_blocks_ = logit_blocks_bytes(plan);
}

size_t StageLedger::keep(const Line& line) {
  pool_.push_back(line);
  return pool_.size() - 1;
}

/// All the weights, and nothing else yet.
void StageLedger::add_load(const Plan& plan, const std::vector<ParameterGroup>& groups) {
  Places p;
  p[weights] = keep(loaded_weights_line(sheet_, plan, groups));
  p[gradients] = keep(sheet_.nothing("gradients", "Gradients"));
  p[optimizer] = keep(sheet_.nothing("optimizer", "Optimizer"));
  p[adapters] = keep(sheet_.nothing("adapters", "Adapters"));
  p[activations] = kMoments;
  p[logits] = keep(sheet_.nothing("logits", "Logits and loss"));
  p[gathered] = keep(sheet_.nothing("gathered", "Gathered weights"));
  p[buffers] = keep(sheet_.nothing("buffers", "Buffers"));
  kinds_.push_back(PhaseKind::load);
  places_.push_back(p);
  first_ = 1;
}

/// Lines that are as in the phase before are not made again.
void StageLedger::add_phase(const Subject& subject, PhaseKind kind) {
  const auto& [plan, stage, groups, units, lasting] = subject;
  const bool first = kinds_.size() == first_;
  const PhaseKind last = first ? kind : kinds_.back();
  Places p = first ? Places{} : places_.back();
  if (first) {
    p[weights] = keep(weights_line(sheet_, plan, groups));
    p[optimizer] = keep(optimizer_line(sheet_, plan, groups));
    p[adapters] = keep(adapters_line(sheet_, plan, stage));
  }
  if (first || has_gradients(plan, kind) != has_gradients(plan, last))
    p[gradients] = keep(gradients_line(sheet_, plan, groups, has_gradients(plan, kind)));
  p[activations] = moment_of(kind);
  if (kind == PhaseKind::reduce)
    p[gathered] = places_[first_][gathered];  // as in forward
  else if (first || kind == PhaseKind::optimizer || !units.root.empty() || !units.layer.empty())
    p[gathered] = keep(gathered_line(sheet_, plan, stage, groups, units, kind));
  const bool expands = kind == PhaseKind::backward && !trains_all(plan);
  if (last == PhaseKind::loss)  // as in forward
    for (const Place place : {logits, buffers}) p[place] = places_[first_][place];
  if (first || kind == PhaseKind::loss) p[logits] = keep(logits_line(sheet_, plan, stage, kind == PhaseKind::loss));
  if (first || kind == PhaseKind::loss || kind >= PhaseKind::reduce || expands)
    p[buffers] = keep(buffers_line(sheet_, plan, stage, groups, lasting, kind));
  kinds_.push_back(kind);
  places_.push_back(p);
}

std::vector<PhaseAmounts> StageLedger::amounts(double chunks_in_flight) const {
  const std::array<Amount, kMoments> saved = activations_.amounts(chunks_in_flight);
  std::vector<PhaseAmounts> phases(kinds_.size());
  for (size_t i = 0; i < kinds_.size(); ++i) {
    phases[i].id = phase_id(kinds_[i]);
    for (size_t line = 0; line < kPhaseLines; ++line)
      if (line != activations) phases[i].lines[line] = pool_[places_[i][line]];
    const size_t moment = places_[i][activations];
    if (moment < kMoments) phases[i].lines[activations] = saved[moment];
  }
  return phases;
}

Holdings StageLedger::holdings(const std::vector<PhaseAmounts>& phases) const {
  const auto most = [this, &phases](Place place) {
    uint64_t bytes = 0;
    for (size_t i = first_; i < phases.size(); ++i) bytes = std::max(bytes, phases[i].lines[place].bytes);
    return bytes;
  };
  const uint64_t lasting_buffers = phases[first_].lines[buffers].bytes;
  Holdings held;
  if (first_ > 0) held.loaded = phases.front().allocated_bytes();
  for (size_t i = first_; i < phases.size(); ++i)
    held.allocated = std::max(held.allocated, phases[i].allocated_bytes());
  for (Place place : {weights, gradients, optimizer, adapters}) held.lasting += most(place);
  held.lasting += lasting_buffers;
  for (size_t i = first_; i < phases.size(); ++i) {
    const auto& lines = phases[i].lines;
    const uint64_t dynamic = lines[activations].bytes + lines[logits].bytes + lines[gathered].bytes;
    held.dynamic = std::max(held.dynamic, dynamic);
    held.scattered = std::max(held.scattered, dynamic - (has_logit_blocks_ ? lines[logits].bytes : 0));
    held.with_blocks = std::max(held.with_blocks, dynamic + (kinds_[i] == PhaseKind::loss ? logit_blocks_ : 0));
  }
  held.step = std::max(most(buffers), lasting_buffers) - lasting_buffers;
  return held;
}

Amount StageLedger::steady(const Plan& plan) const {
  const Places& last = places_.back();
  // PyTorch's zero_grad frees them where nothing shards or reduces them (measured: 6 bytes a parameter stay on one GPU,
  // 8 and 16 with FSDP).
  const bool frees_gradients = plan.framework == Framework::ddp && plan.gpus == 1;
  Amount adapted, kept_buffers, reduced;
  if (!frees_gradients) reduced = pool_[last[gradients]];
  for (const Line& line : pool_[last[adapters]].children)
    if (!frees_gradients || std::string_view(line.id) != "gradients") adapted += line;
  for (const Line& line : pool_[last[buffers]].children)
    for (std::string_view kept : {"workspace", "quantised_weights", "stage_inputs", "stand_ins"})
      if (line.id == kept) kept_buffers += line;
  const Amount kept[] = {pool_[last[weights]], pool_[last[optimizer]], adapted, reduced, kept_buffers};
  return {total_bytes(kept), total_band_bytes(kept)};
}

std::vector<Phase> StageLedger::phases(double chunks_in_flight) const {
  const std::array<Line, kMoments> saved = activations_.lines(sheet_, chunks_in_flight);
  std::vector<Phase> phases(kinds_.size());
  for (size_t i = 0; i < kinds_.size(); ++i) {
    Phase& phase = phases[i];
    phase.id = phase_id(kinds_[i]);
    LineList lines(sheet_, kPhaseLines);
    for (size_t line = 0; line < kPhaseLines; ++line) {
      const size_t place = places_[i][line];
      if (line == activations)
        lines.push_back(place < kMoments ? saved[place] : no_activations_);
      else
        lines.push_back(pool_[place]);
    }
    phase.lines = lines;
    phase.allocated_bytes = total_bytes(phase.lines);
  }
  return phases;
}

const Line& StageLedger::title(size_t phase, size_t line) const {
  return line == activations ? no_activations_ : pool_[places_[phase][line]];
}

std::vector<Phase> stage_phases(Sheet& sheet, const Plan& plan, const Stage& stage) {
  const ModelTensors tensors(plan);
  WorkingLayers layers(plan, tensors);
  return StageLedger(plan, stage, tensors, layers, workspace_line(sheet, plan), sheet).phases(stage.chunks_in_flight);
}

}  // namespace vram
