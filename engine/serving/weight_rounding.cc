#include <cmath>

#include "engine/formats.h"
#include "engine/model/layer_shape.h"
#include "engine/serving/allocations.h"
#include "engine/serving/vllm_run.h"
#include "engine/serving/weight_collector.h"

namespace vram {
namespace {

/// The tensors of one layer as vllm and sglang store them: query, key and value in one, gate and up in one, all experts
/// in one (layers/linear.py, QKVParallelLinear and MergedColumnParallelLinear; fused_moe/layer.py).
class FusedTensors {
 public:
  void add(Part part, double bytes) {
    if (double* tensor = shared_by(part))
      *tensor += bytes;
    else
      apart_.push_back(bytes);
  }
  void put_into(Allocations& allocations) const {
    for (double tensor : {qkv_, gate_up_, shared_, experts_}) allocations.add(tensor);
    for (double tensor : apart_) allocations.add(tensor);
  }

 private:
  /// Null: the matrix is a tensor of its own.
  double* shared_by(Part part) {
    if (part == Part::q || part == Part::k || part == Part::v) return &qkv_;
    if (is_row_parallel(part)) return nullptr;
    if (is_dense_mlp(part)) return &gate_up_;
    if (is_shared_expert(part)) return &shared_;
    return is_routed_expert(part) ? &experts_ : nullptr;
  }
  double qkv_ = 0, gate_up_ = 0, shared_ = 0, experts_ = 0;
  std::vector<double> apart_;
};

FusedTensors tensors_of(const WeightCollector& weights, const LayerKind& kind) {
  FusedTensors tensors;
  for (const Matrix& matrix : kind.matrices) {
    if (matrix.count() > 0) tensors.add(matrix.part, weights.bytes_on_gpu(matrix, kind.attention.kv_heads));
  }
  return tensors;
}

void allocate(const WeightCollector& weights, const std::vector<Matrix>& apart, Allocations& into) {
  for (const Matrix& matrix : apart) into.add(weights.bytes_on_gpu(matrix, 1));
}

// vllm prints what PyTorch has allocated, with rests of up to 1 MiB behind large tensors; its newer versions the
// difference of free memory, as sglang always did: Qwen2.5-7B's 14.193 GiB are 14.2488 and in 0.27 14.29. Segments that
// small tensors share leave nothing there: Qwen2.5-1.5B's 2.89 GiB are 2.98 (0.28), Qwen3-235B's 55.19 (0.27).
constexpr double kVllmPrintsFreeMemory = 20e3;

}  // namespace

WeightParcel allocator_rounding(const Plan& plan, const Replica& replica, const ServingStage& stage) {
  const Model& model = *plan.subject;
  WeightParcel parcel{WeightSection::rounding, 0, 8, 1};
  const bool sglang = plan.engine == Engine::sglang;
  if (!model.has_shape || !(sglang || plan.engine == Engine::vllm)) return parcel;
  const WeightCollector weights(plan, replica, stage);
  std::vector<FusedTensors> kinds;
  for (const LayerKind& kind : model.kinds) kinds.push_back(tensors_of(weights, kind));
  const bool scaled = weights_format(plan).blocks_only && weights_format(plan).bits < 8;  // scales fill what is left
  // vllm-ascend prints what is allocated (platform.py, get_current_memory_usage).
  const bool ascend = plan.accelerator->vendor == "Huawei";
  const bool reserved = sglang || (!ascend && release_number(plan) >= kVllmPrintsFreeMemory);
  Allocations allocations(reserved, !scaled && (sglang || !reserved));
  if (stage.has_embedding) allocate(weights, model.embedding, allocations);
  for (size_t i = stage.first; i < stage.first + stage.count; ++i) kinds[model.layers[i]].put_into(allocations);
  if (stage.has_head) allocate(weights, model.head, allocations);
  parcel.elements = std::ceil(allocations.beyond());
  return parcel;
}

}  // namespace vram
