#include "engine/training/linear_inputs.h"

namespace vram {
namespace {

bool reads_attention_input(Part part) {
  return part == Part::q || part == Part::k || part == Part::v || part == Part::qkv_other || part == Part::linear_mixer;
}

bool reads_mlp_input(Part part) { return (is_dense_mlp(part) || is_shared_expert(part)) && !is_row_parallel(part); }

}  // namespace

LinearInput input_of(const Matrix& m) {
  if (m.part == Part::expert_down) return LinearInput::expert_down;
  if (m.shard == Shard::expert) return LinearInput::expert;
  if (m.part == Part::o) return LinearInput::projection;
  if (reads_mlp_input(m.part)) return LinearInput::mlp;
  return reads_attention_input(m.part) ? LinearInput::attention : LinearInput::down;
}

double input_width(const Matrix& m, const LayerKind& kind) {
  return m.shard == Shard::expert ? kind.ffn.experts_per_token * m.cols : m.cols;
}

}  // namespace vram
