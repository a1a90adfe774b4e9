#include <algorithm>

#include "engine/training/saved_tensors.h"

namespace vram {
namespace {

constexpr const char* kMlpNote =
    "arXiv 2205.05198, section 4.1 (input and GELU input and output); gated: gate, up, activation and product";

/// Tensors of the inner width that an MLP keeps, its down-projection's input included.
double kept_widths(const LayerSetting& s, bool gated) {
  const double last = s.keeps_inputs ? 1 : 0;                        // the down-projection's input
  if (!gated) return std::max(1.0, s.activation_widths - 1 + last);  // ReLU asks for its output itself
  return (s.fused_mlp ? 2 : 1 + s.activation_widths) + last;
}

/// Bytes of those tensors: the product, a linear's input, may be quantised.
double mlp_bytes(const LayerSetting& s, bool gated) {
  const double product = s.keeps_inputs ? 1 : 0;
  return (kept_widths(s, gated) - product) * s.e + product * s.linear_input;
}

void save_routing(const Plan& plan, const LayerSetting& s, const Ffn& ffn, SavedTensors& out) {
  out.push_back(
      {"router", "Router logits", Area::moe, "E + 1", "experts and their sum", ffn.experts + 1, 4, s.sp, "fp32"});
  if (!s.megatron)
    out.push_back({"indices", "Indices and routing weights", Area::moe, "K", "experts a token", ffn.experts_per_token,
                   32, 1, "transformers 5, models/mixtral"});
  const bool upcasts = plan.library == Library::hf && plan.subject->architecture.router_correction_bias && s.e == 2;
  if (upcasts && s.trained)
    out.push_back({"router_input", "Router's fp32 input", Area::moe, "h", "hidden", s.h, 4, s.sp,
                   "transformers 5, models/deepseek_v3"});
}

/// Megatron weighs the activation before the second product, in one kernel with it but for a plain GELU, which is then
/// kept beside what it is weighed to (Megatron-LM, core/transformer/moe/experts.py, bias_act_func).
bool weighs_apart(const Plan& plan, const Ffn& ffn) {
  return plan.library == Library::megatron && !ffn.gated && plan.subject->architecture.hidden_act != "relu2";
}

}  // namespace

void save_mlp(const Plan&, const LayerSetting& s, const LayerKind& kind, SavedTensors& out) {
  const Ffn& ffn = kind.ffn;
  if (ffn.kind != FfnKind::dense) return;
  // Megatron's norm is one kernel with the first linear, and recomputed with the MLP only (gpt_layer_specs.py).
  const bool input = s.keeps_inputs && !s.one_norm && !(s.megatron && s.recompute_mlp);
  const double copies = s.casts_inputs && ffn.gated && !s.megatron ? 2 : 1;  // gate and up cast it each
  if (input)
    out.push_back(
        {"mlp_input", "MLP input", Area::mlp, "h", "hidden", s.h, s.linear_input * copies, s.input_split, kMlpNote});
  if (s.recompute_mlp) return;
  out.push_back({"mlp", ffn.gated ? "Gate, up, product" : "Before and after the activation", Area::mlp, "f", "ffn",
                 ffn.width, mlp_bytes(s, ffn.gated), s.tp, kMlpNote});
}

void save_experts(const Plan& plan, const LayerSetting& s, const LayerKind& kind, SavedTensors& out) {
  const Ffn& ffn = kind.ffn;
  if (ffn.kind != FfnKind::moe) return;
  if (s.keeps_inputs && !s.recompute_norms)
    out.push_back({"moe_input", "MoE input", Area::moe, "h", "hidden", s.h, s.e, s.input_split, kMlpNote});
  save_routing(plan, s, ffn, out);
  if (s.recompute_moe) return;
  // The fullest rank sees its imbalance times the mean; with a capacity every expert is padded to it.
  const double k = ffn.experts_per_token * (plan.moe_capacity > 0 ? plan.moe_capacity : plan.moe_imbalance);
  const double rows = plan.etp / plan.tp;  // tokens of all tensor-parallel ranks meet in the expert's group
  const double input = s.keeps_inputs ? 1 : 0, copies = input + (s.megatron ? 1 : 2);
  out.push_back({"dispatched", "Tokens sent to experts and back", Area::moe, "K h", "elements of a token's experts",
                 k * s.h * rows, copies * s.e, 1,
                 "the experts' input, their output, and once more weighted (transformers 5, models/mixtral)"});
  out.push_back({"experts", "Experts: gate, up, product", Area::moe, "K m", "inner elements of a token's experts",
                 k * ffn.expert_width,
                 mlp_bytes(s, ffn.gated) + (weighs_apart(plan, ffn) ? s.e : 0) -
                     (s.recompute_product && s.trained ? s.linear_input : 0),
                 s.tp, kMlpNote});
  if (ffn.shared_width <= 0 || s.recompute_shared) return;
  out.push_back({"shared", "Shared experts: gate, up, product", Area::moe, "m", "shared ffn", ffn.shared_width,
                 mlp_bytes(s, ffn.gated), s.tp, kMlpNote});
  if (plan.subject->architecture.shared_expert_gate)
    out.push_back({"shared_output", "Shared experts' output", Area::moe, "h", "hidden", s.h, s.e, s.sp,
                   "it is multiplied by its gate (transformers, models/qwen2_moe; Megatron-LM, shared_experts.py)"});
}

}  // namespace vram
