#include <algorithm>

#include "engine/serving/checkpoint.h"
#include "engine/serving/gguf.h"
#include "engine/serving/weights.h"

namespace vram {

double tensor_bytes(const Plan& plan, size_t layer, Part part) {
  const Model& model = *plan.subject;
  const Checkpoint checkpoint(plan);
  double bytes = 0;
  for (const Matrix& matrix : model.layer(layer).matrices) {
    if (matrix.part != part) continue;
    double bits = checkpoint.bits(matrix);
    if (checkpoint.gguf()) {
      const GgufStorage stored = gguf_storage(checkpoint.format(), model, matrix, model.layers[layer], layer, 1);
      bits = stored.raised_layers > 0 ? stored.raised : stored.bits;
    }
    bytes = std::max(bytes, matrix.count() * model.scale() * bits / 8);
  }
  return bytes;
}

double head_bytes(const Plan& plan) {
  double bytes = 0;
  for (const WeightParcel& parcel : weight_parcels(plan, Replica{}, {0, 0, false, true, false})) {
    if (parcel.section == WeightSection::head) bytes += parcel.elements * parcel.bits / 8;
  }
  return bytes;
}

ExpertBytes expert_bytes(const Plan& plan, size_t layer) {
  return {tensor_bytes(plan, layer, Part::expert_gate), tensor_bytes(plan, layer, Part::expert_up),
          tensor_bytes(plan, layer, Part::expert_down)};
}

double largest_host_experts_bytes(const Plan& plan) {
  const ServingStage host = host_stage(plan);
  const size_t first = host.first + host.count;
  double largest = 0;
  for (size_t i = first; i < first + host.more_experts; ++i) {
    const ExpertBytes bytes = expert_bytes(plan, i);
    largest = std::max({largest, bytes.gate, bytes.up, bytes.down});
  }
  return largest;
}

namespace {

/// A tied embedding is the head, too.
bool is_head(const Plan& plan, const WeightParcel& parcel) {
  const bool tied = plan.subject->architecture.tied;
  return parcel.section == (tied ? WeightSection::embedding : WeightSection::head);
}

}  // namespace

std::vector<ReadBytes> weight_bytes_read(const Plan& plan, const Replica& replica, const ServingStage& stage) {
  std::vector<ReadBytes> read;
  for (const WeightParcel& parcel : weight_parcels(plan, replica, stage)) {
    const bool tied = plan.subject->architecture.tied;
    const bool table =
        parcel.section == WeightSection::layer_embedding || (parcel.section == WeightSection::embedding && !tied);
    if (table || parcel.section == WeightSection::outside || parcel.section == WeightSection::rotary) continue;
    read.push_back({parcel.bits, parcel.elements * parcel.bits / 8 / parcel.divisor,
                    parcel.section == WeightSection::experts, parcel.section == WeightSection::host_experts,
                    parcel.section == WeightSection::draft, is_head(plan, parcel)});
  }
  return read;
}

}  // namespace vram
