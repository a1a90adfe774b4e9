#pragma once

#include <vector>

#include "engine/serving/checkpoint.h"
#include "engine/serving/expert_steps.h"
#include "engine/serving/weights.h"

namespace vram {

/// One stage's weights, gathered: matrices in, parcels of what is stored and divided alike out.
class WeightCollector {
 public:
  WeightCollector(const Plan& plan, const Replica& replica, const ServingStage& stage);

  /// Matrices that stand once: embedding, head, a draft's layers. `as`: the section, where not the matrix's own.
  void add(const std::vector<Matrix>& matrices, double copies, double kv_heads, const WeightSection* as = nullptr);
  void add(const LayerKind& kind, double copies, const WeightSection* as = nullptr);
  /// The stage's layers of a kind.
  void add_layers(size_t k);
  /// Routed experts of the layers behind the stage's own.
  void add_more_experts(size_t k);
  void put(const WeightParcel& parcel);
  std::vector<WeightParcel> take() { return std::move(parcels_); }

  /// Of a tensor by itself: its scales are another.
  double bytes_on_gpu(const Matrix& matrix, double kv_heads) const;

 private:
  void add(const Matrix& matrix, double copies, double kv_heads, const WeightSection* as);
  /// A matrix of the layers of kind k among [first, first + count).
  void add_range(size_t k, const Matrix& whole, size_t first, size_t count, const WeightSection* as);
  /// Of a checkpoint that leaves some layers' halves in 16 bit or has them in 8.
  void add_mixed(size_t k, const Matrix& matrix, size_t first, size_t count, const WeightSection* as);
  double elements(const Matrix& matrix) const;
  double padded_expert(const Matrix& matrix) const;
  double divisor(const Matrix& matrix, double kv_heads) const;

  const Model& model_;
  const Checkpoint checkpoint_;
  const Replica replica_;
  const ServingStage stage_;
  const bool whole_table_, pads_vocabulary_, pads_experts_;
  const ExpertSteps expert_steps_;
  std::vector<WeightParcel> parcels_;
};

}  // namespace vram
