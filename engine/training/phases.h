#pragma once

#include <array>
#include <vector>

#include "engine/sheet.h"
#include "engine/training/activations.h"
#include "engine/training/gathered.h"
#include "engine/training/overheads.h"
#include "engine/training/training.h"

namespace vram {

/// Lines of a phase: weights, gradients, optimizer, adapters, activations, logits, gathered, buffers.
inline constexpr size_t kPhaseLines = 8;

/// What each line of a phase comes to.
struct PhaseAmounts {
  const char* id = "";
  std::array<Amount, kPhaseLines> lines;

  uint64_t allocated_bytes() const;
};

/// Every line that some phase of a step has on one stage, each made once, and which phase holds which. It serves all
/// stages that differ from that one in nothing but the chunks in flight.
class StageLedger {
 public:
  /// `layers` and the sheet must outlive it.
  StageLedger(const Plan& plan, const Stage& stage, const ModelTensors& tensors, WorkingLayers& layers,
              const Line& workspace, Sheet& sheet);

  std::vector<PhaseAmounts> amounts(double chunks_in_flight) const;
  /// What the allocator has blocks for.
  Holdings holdings(const std::vector<PhaseAmounts>& phases) const;
  // Of lines only:

  /// Between two steps: what the optimizer's phase has, without its temporaries, and without gradients that are freed.
  Amount steady(const Plan& plan) const;
  std::vector<Phase> phases(double chunks_in_flight) const;
  /// Id, label and note of a phase's line; not its amount.
  const Line& title(size_t phase, size_t line) const;

 private:
  using Places = std::array<size_t, kPhaseLines>;  // in pool_; of activations: the moment, or kMoments for none
  struct Subject {
    const Plan& plan;
    const Stage& stage;
    const std::vector<ParameterGroup>& groups;
    GatheredUnits units;
    Lines lasting;  // buffers of every phase
  };

  size_t keep(const Line& line);
  void add_load(const Plan& plan, const std::vector<ParameterGroup>& groups);
  void add_phase(const Subject& subject, PhaseKind kind);

  Sheet& sheet_;
  StageActivations activations_;
  Line no_activations_;
  std::vector<Line> pool_;
  bool has_logit_blocks_ = false;
  uint64_t logit_blocks_ = 0;
  size_t first_ = 0;  // phase of the step: loading is none
  std::vector<PhaseKind> kinds_;
  std::vector<Places> places_;
};

/// The phases of a step on one stage, line by line.
std::vector<Phase> stage_phases(Sheet& sheet, const Plan& plan, const Stage& stage);

}  // namespace vram
