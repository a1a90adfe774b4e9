#pragma once

#include <array>
#include <vector>

#include "engine/training/gathered.h"
#include "engine/training/layer_tensors.h"
#include "engine/training/overheads.h"
#include "engine/training/pipeline.h"
#include "engine/training/training.h"

namespace vram {

/// Every line that some phase of a step has on one stage, each made once, and which phase holds which.
class StageLedger {
 public:
  StageLedger(const Plan& plan, const Stage& stage, const ModelTensors& tensors);

  /// The phase with most allocated; the earlier one where two are alike.
  size_t peak() const;
  const char* id(size_t phase) const;
  uint64_t allocated_bytes(size_t phase) const;
  std::vector<Line> lines(size_t phase) const;
  std::vector<Phase> phases() const;
  Holdings holdings() const;
  /// Between two steps: what the optimizer's phase has, without its temporaries, and without gradients that are freed.
  uint64_t steady_bytes(const Plan& plan) const;

 private:
  // weights, gradients, optimizer, adapters, activations, logits, gathered, buffers: places in pool_.
  using Places = std::array<size_t, 8>;

  struct Subject {
    const Plan& plan;
    const Stage& stage;
    const ModelTensors& tensors;
    std::vector<ParameterGroup> groups;
  };

  size_t keep(Line line);
  void add_phase(const Subject& subject, PhaseKind kind);

  std::vector<Line> pool_;
  uint64_t logit_blocks_ = 0;
  std::vector<PhaseKind> kinds_;
  std::vector<Places> places_;
};

}  // namespace vram
