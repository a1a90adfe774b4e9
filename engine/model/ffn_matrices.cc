#include "engine/model/matrices.h"

namespace vram {
namespace {

struct FfnNames {
  const char* gate;
  const char* up;
  const char* down;
  Part gate_part, up_part, down_part;
};

struct Mlp {
  Shard shard;
  double input, width, copies;
  bool gated, bias;
};

/// gate, up and down (up and down where not gated), `copies` of them: arXiv 2002.05202.
void add_mlp(const FfnNames& names, const Mlp& mlp, Matrices& out) {
  if (mlp.gated) add_linear({names.gate, names.gate_part, mlp.shard, mlp.width, mlp.input, mlp.copies}, mlp.bias, out);
  add_linear({names.up, names.up_part, mlp.shard, mlp.width, mlp.input, mlp.copies}, mlp.bias, out);
  out.push_back({names.down, names.down_part, mlp.shard, mlp.input, mlp.width, mlp.copies});
  if (!mlp.bias) return;
  // A row-parallel linear's bias is added once, after the reduction: whole on every rank (of the expert's group).
  const Shard whole = mlp.shard == Shard::expert ? Shard::expert : Shard::replicated;
  out.push_back({"down_bias", Part::bias, whole, mlp.input, 1, mlp.copies, false});
}

/// Router, experts and shared experts of a mixture-of-experts layer: arXiv 2401.06066, equations 3 to 5.
void add_moe(const Architecture& a, const Ffn& ffn, Matrices& out) {
  add_linear({"router", Part::router, Shard::replicated, ffn.experts, a.hidden}, a.router_bias, out);
  if (a.router_correction_bias)  // DeepSeek-V3 (arXiv 2412.19437), equation 16: steered by load, without gradient
    out.push_back({"e_score_correction_bias", Part::correction_bias, Shard::replicated, ffn.experts, 1, 1, false});
  if (a.router_scales) {
    out.push_back({"router_input_scale", Part::other, Shard::replicated, a.hidden, 1, 1, false});
    out.push_back({"router_expert_scale", Part::other, Shard::replicated, ffn.experts, 1, 1, false});
  }
  const double expert_input = a.moe_latent > 0 ? a.moe_latent : a.hidden;
  if (a.moe_latent > 0) {
    out.push_back({"latent_in_proj", Part::other, Shard::replicated, a.moe_latent, a.hidden});
    out.push_back({"latent_out_proj", Part::other, Shard::replicated, a.hidden, a.moe_latent});
  }
  add_mlp({"expert_gate", "expert_up", "expert_down", Part::expert_gate, Part::expert_up, Part::expert_down},
          {Shard::expert, expert_input, ffn.expert_width, ffn.experts, a.gated, a.expert_bias}, out);
  if (ffn.shared_width > 0)
    add_mlp({"shared_gate", "shared_up", "shared_down", Part::shared_gate, Part::shared_up, Part::shared_down},
            {Shard::tensor, a.hidden, ffn.shared_width, 1, a.gated, a.mlp_bias}, out);
  if (ffn.shared_width > 0 && a.shared_expert_gate)
    out.push_back({"shared_expert_gate", Part::router, Shard::replicated, 1, a.hidden});
}

}  // namespace

void add_ffn(const Architecture& a, const Ffn& ffn, Matrices& out) {
  if (ffn.kind == FfnKind::moe) add_moe(a, ffn, out);
  if (ffn.kind == FfnKind::dense)
    add_mlp({"gate_proj", "up_proj", "down_proj", Part::gate, Part::up, Part::down},
            {Shard::tensor, a.hidden, ffn.width, 1, a.gated, a.mlp_bias}, out);
  if (ffn.kind == FfnKind::dense && a.activation_scalars > 0)
    out.push_back({"activation_scalars", Part::other, Shard::replicated, a.activation_scalars, 1, 1, false});
}

}  // namespace vram
