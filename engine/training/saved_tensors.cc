#include "engine/training/saved_tensors.h"

#include <algorithm>

namespace vram {
namespace {

/// Inner width, elements a token, that backward has gradients of at one time. Megatron's, torchtitan's and torchtune's
/// experts run grouped; the others' loop over them: one expert's share of the tokens at a time, and the shared experts
/// by themselves (transformers, models/mixtral/modeling_mixtral.py; litgpt, model.py, LLaMAMoE).
double inner_width(const Plan& plan, const LayerKind& kind) {
  const Ffn& ffn = kind.ffn;
  if (ffn.kind != FfnKind::moe) return ffn.width;
  const double routed = ffn.experts_per_token * ffn.expert_width;
  const bool grouped =
      plan.library == Library::megatron || plan.library == Library::torchtitan || plan.library == Library::torchtune;
  if (grouped || ffn.experts <= 0) return routed + ffn.shared_width;
  return std::max(routed * plan.moe_imbalance / ffn.experts, ffn.shared_width);
}

}  // namespace

MatmulOutputs matmul_outputs(const LayerKind& kind) {
  MatmulOutputs outputs;
  for (const Matrix& m : kind.matrices) {
    if (!m.linear) continue;
    const double active = m.shard == Shard::expert && kind.ffn.experts > 0
                              ? m.copies * kind.ffn.experts_per_token / kind.ffn.experts
                              : m.copies;
    const bool whole = m.part == Part::o || m.part == Part::down || m.shard == Shard::replicated;
    (whole ? outputs.whole : outputs.cut) += m.rows * active;
  }
  return outputs;
}

SavedTensors saved_tensors(const Plan& plan, const LayerSetting& s, const LayerKind& kind) {
  SavedTensors out;
  out.reserve(kUsualTensors);
  save_norms(plan, s, kind, out);
  save_attention(plan, s, kind, out);
  save_mlp(plan, s, kind, out);
  save_experts(plan, s, kind, out);
  save_adapters(plan, s, kind, out);
  return out;
}

SavedTensors saved_by_selected_operations(const LayerSetting& s, const LayerKind& kind) {
  constexpr const char* note =
      "torchtitan, distributed/activation_checkpoint.py: attention and every other matrix product are kept";
  SavedTensors out;
  out.push_back({"layer_input", "Layer input", Area::norms, "h", "hidden", s.h, s.residual, s.sp, note});
  const Attention& t = kind.attention;
  if (kind.mixer == Mixer::full || kind.mixer == Mixer::sliding) {
    out.push_back({"attention", "Attention's output", Area::attention, "a d", "output width", t.heads * t.v_head_dim,
                   s.e, s.tp, note});
    out.push_back({"lse", "Log-sum-exp", Area::attention, "a", "heads", t.heads, 4, s.tp, note});
  }
  const MatmulOutputs outputs = matmul_outputs(kind);
  out.push_back({"matmuls", "Every other matrix product", Area::mlp, "Σ", "outputs of matrix products", outputs.cut,
                 s.e / 2, s.tp, note});
  out.push_back({"matmuls_whole", "Every other matrix product, row-parallel", Area::mlp, "Σ",
                 "outputs of matrix products", outputs.whole, s.e / 2, s.sp, note});
  return out;
}

double bytes_per_token(const SavedTensors& tensors) {
  double sum = 0;
  for (const SavedTensor& t : tensors) sum += t.width * t.bytes / t.split;
  return sum;
}

// Measured on the layers of transformers with PyTorch 2.6: backward of the MLP holds two gradients of its inner width;
// eager attention holds the scores' gradients, by when the MLP's and second norm's tensors are freed.
double transient_bytes_per_token(const Plan& plan, const LayerSetting& s, const LayerKind& kind) {
  // unsloth's gradients of gate and up overwrite both, the product its own gradient (kernels/fast_lora.py).
  const double mlp = (s.adapters_in_place ? 1 : 2) * s.e * inner_width(plan, kind) / s.tp;
  if (!s.eager || kind.attention.heads <= 0) return mlp;
  const double scores = (s.e == 2 ? 6 : 8) * kind.attention.heads * plan.seq / s.tp;
  double freed = 0;
  for (const SavedTensor& t : saved_tensors(plan, s, kind))
    if (t.area == Area::mlp || t.area == Area::moe) freed += t.width * t.bytes / t.split;
  return std::max(mlp, scores - freed);
}

}  // namespace vram
