#include "engine/compute/recomputed.h"

#include <string_view>

#include "engine/plan/texts.h"

namespace vram {
namespace {

bool names(const Plan& plan, std::string_view module) {
  return plan.recompute == Recompute::selective && lists(plan.recompute_modules, module);
}

/// Latent attention's projections out of its two ranks.
bool is_up_projection(const LayerKind& kind, const Matrix& matrix) {
  const Attention& a = kind.attention;
  const bool from_query = a.q_lora_rank > 0 && matrix.cols == a.q_lora_rank && matrix.part == Part::q;
  return a.kv_lora_rank > 0 && (from_query || (matrix.cols == a.kv_lora_rank && matrix.linear));
}

/// Activations that are worked out again.
Ffn recomputed_ffn(const Plan& plan, const Ffn& whole) {
  Ffn ffn;
  ffn.gated = whole.gated;
  if (whole.kind == FfnKind::moe && names(plan, "moe")) return whole;
  if (whole.kind == FfnKind::dense && names(plan, "mlp")) return whole;
  const double routed = names(plan, "moe_act") ? whole.expert_width * whole.experts_per_token : 0;
  ffn.width = routed + (names(plan, "shared_experts") ? whole.shared_width : 0);
  if (whole.kind == FfnKind::moe && ffn.width > 0) ffn.kind = FfnKind::dense;  // an activation that wide, no routing
  return ffn;
}

}  // namespace

bool recomputes_core_attention(const Plan& plan) {
  return plan.recompute == Recompute::selective &&
         (plan.recompute_modules.empty() || lists(plan.recompute_modules, "core_attn"));
}

bool recomputes_dispatch(const Plan& plan) { return plan.recompute == Recompute::full || names(plan, "moe"); }

LayerKind recomputed_modules(const Plan& plan, const LayerKind& kind) {
  LayerKind part;
  part.mixer = Mixer::none;
  part.attention = kind.attention;
  part.norms = names(plan, "layernorm") ? kind.norms : 0;
  part.ffn = recomputed_ffn(plan, kind.ffn);
  for (const Matrix& matrix : kind.matrices) {
    const bool repeated = (is_dense_mlp(matrix.part) && names(plan, "mlp")) ||
                          (is_routed_expert(matrix.part) && names(plan, "moe")) ||
                          (is_shared_expert(matrix.part) && (names(plan, "moe") || names(plan, "shared_experts"))) ||
                          (is_up_projection(kind, matrix) && names(plan, "mla_up_proj"));
    if (repeated) part.matrices.push_back(matrix);
  }
  return part;
}

}  // namespace vram
