#pragma once

#include <array>
#include <optional>
#include <vector>

#include "engine/sheet.h"
#include "engine/training/layer_tensors.h"
#include "engine/training/pipeline.h"

namespace vram {

/// What of the activations lives at a moment of the step.
enum class Moment : uint8_t {
  forward,   // everything saved of every micro-batch in flight
  backward,  // that, and the working set of the layer that is being differentiated
  last       // end of backward: one layer's only
};

inline constexpr size_t kMoments = 3;

/// A saved tensor summed over the layers of a stage that have it.
struct SavedSum {
  SavedTensor tensor;
  double layers = 0;
  double elements = 0;  // a token, of all those layers
  bool alike = true;    // one width in all of them
};

/// The layer under differentiation.
struct WorkingLayer {
  std::vector<SavedSum> recomputed, last;  // in backward, and at its end
  double gradient_bytes = 0;               // a token
  Amount in_backward, at_end;
};

/// One of each kind, worked out when first asked for: stages share them.
class WorkingLayers {
 public:
  WorkingLayers(const Plan& plan, const ModelTensors& tensors)
      : plan_(plan), tensors_(tensors), layers_(tensors.kinds.size()) {}

  const WorkingLayer& of(size_t kind);

 private:
  const Plan& plan_;
  const ModelTensors& tensors_;
  std::vector<std::optional<WorkingLayer>> layers_;
};

/// What the layers of a stage save, summed once for every moment and any number of chunks in flight.
class StageActivations {
 public:
  /// `layers` must outlive it.
  StageActivations(const Plan& plan, const Stage& stage, const ModelTensors& tensors, WorkingLayers& layers);

  /// The line of each moment, and what it comes to without being made.
  std::array<Line, kMoments> lines(Sheet& sheet, double chunks_in_flight) const;
  std::array<Amount, kMoments> amounts(double chunks_in_flight) const;

 private:
  Line working_line(Sheet& sheet, const std::vector<SavedSum>& sums) const;

  const Plan& plan_;
  const WorkingLayer* working_ = nullptr;  // null without layers
  double chunks_ = 1;
  std::vector<SavedSum> saved_, checkpoints_, widened_checkpoints_;  // the latter during backward
  std::vector<SavedSum> outputs_;                                    // kept until their gradients come back
  std::vector<SavedSum> outliving_;                                  // of the step before, until this one's loss
};

/// Tokens of one micro-batch on one rank: micro_batch × seq ÷ cp.
void push_tokens(const Plan& plan, Factors& factors);

/// Bytes of the stage's checkpoints or saved activations that lie in host memory.
double offloaded_activation_bytes(const Plan& plan, const Stage& stage, const ModelTensors& tensors);

}  // namespace vram
