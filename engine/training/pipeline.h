#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/plan/plan.h"

namespace vram {

/// Consecutive layers of the model.
struct LayerRange {
  size_t first = 0, count = 0;
};

/// What one pipeline rank holds: its layers, a range for each chunk (several with virtual stages or two directions),
/// and how many micro-batches' activations live on it at once, counted in chunks of its layers.
struct Stage {
  int index = 0;
  std::vector<LayerRange> ranges;
  double layers = 0;
  bool first = true, last = true;  // holds the embedding; holds the head
  double chunks = 1;               // its layers are this many chunks
  double chunks_in_flight = 1;     // mean chunks whose activations are kept: micro-batches = chunks_in_flight / chunks
};

/// The ranks of the pipeline, first to last. A model without a shape has stages without layers.
std::vector<Stage> pipeline_stages(const Plan& plan);

/// Layers of kind `kind` on that rank.
double layers_of_kind(const Model& model, const Stage& stage, size_t kind);

/// The same layers, embedding and head, so that the stages differ in nothing but the chunks in flight.
bool hold_the_same(const Plan& plan, const Stage& a, const Stage& b);

/// One of the `earlier` stages holds the same and keeps no less in flight: `stage` cannot be fuller.
bool outdone(const Plan& plan, std::span<const Stage> earlier, const Stage& stage);

/// Multi-token prediction modules that this rank trains: behind the last layer, in Megatron's layers only.
double prediction_modules(const Plan& plan, const Stage& stage);

}  // namespace vram
