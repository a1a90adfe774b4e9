#include "engine/model/model.h"

#include <algorithm>

namespace vram {

double Attention::kv_elements_per_token() const {
  if (reuses_kv) return 0;
  if (kv_lora_rank > 0) return kv_lora_rank + rope_head_dim;  // arXiv 2405.04434, section 2.1.2 and table 1
  return kv_heads * (qk_head_dim + v_head_dim);
}

double LayerKind::parameters() const {
  double sum = 0;
  for (const Matrix& m : matrices) sum += m.count();
  return sum;
}

double LayerKind::expert_parameters() const {
  double sum = 0;
  for (const Matrix& m : matrices) sum += m.shard == Shard::expert ? m.count() : 0;
  return sum;
}

double LayerKind::active_parameters() const {
  if (ffn.kind != FfnKind::moe || ffn.experts <= 0) return parameters();
  const double in_experts = expert_parameters();
  return parameters() - in_experts + in_experts / ffn.experts * ffn.experts_per_token;
}

double Model::layers_of_kind(size_t k, size_t first, size_t count) const {
  const size_t end = std::min(first + count, layers.size());
  const uint16_t* const before = counts.data() + k * (layers.size() + 1);
  return end > first ? before[end] - before[first] : 0;
}

double Model::moe_layers() const {
  double sum = 0;
  for (size_t k = 0; k < kinds.size(); ++k)
    if (kinds[k].ffn.kind == FfnKind::moe) sum += layers_of_kind(k, 0, layers.size());
  return sum;
}

}  // namespace vram
