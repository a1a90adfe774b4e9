#include "engine/model/config_parts.h"
#include "engine/model/layer_shape.h"

namespace vram {
namespace {

void need(const Fields& f, const Architecture& a, const char* field, double value) {
  if (value > 0) return;
  f.fault(field, f.given(field) ? "0 or null; the parameters cannot be counted without it"
                                : "missing; the parameters cannot be counted without it, and model_type " +
                                      a.model_type + " does not imply it");
}

bool has_any(const Architecture& a, char letter) {
  const std::string letters = expand_pattern(a.pattern);
  return letters.find(letter) != std::string::npos;
}

bool has_attention(const Architecture& a) { return a.pattern.empty() || has_any(a, 'f') || has_any(a, 's'); }

}  // namespace

void name_missing(const Fields& f, const Architecture& a) {
  need(f, a, "num_hidden_layers", a.layers);
  need(f, a, "hidden_size", a.hidden);
  need(f, a, "vocab_size", a.vocab);
  if (has_attention(a)) need(f, a, "num_attention_heads", a.heads);
  if (a.learned_positions) need(f, a, "max_position_embeddings", a.max_positions);
  if (a.experts > 0) need(f, a, "moe_intermediate_size", a.expert_ffn);
  const bool all_experts = a.experts > 0 && a.dense_layers == 0 && a.moe_every <= 1;
  const bool no_dense = all_experts && a.ffn_kinds.empty();
  const bool told_by_layer = !a.ffn_kinds.empty() && a.ffn_kinds.find('d') == std::string::npos;
  if (!no_dense && !told_by_layer && a.ffn_per_layer.empty() && !f.flag("_no_ffn"))
    need(f, a, "intermediate_size", a.ffn);
  if (a.linear.kind == "gated_deltanet") {
    need(f, a, "linear_num_value_heads", a.linear.value_heads);
    need(f, a, "linear_num_key_heads", a.linear.key_heads);
  }
  if (a.linear.kind == "kda") need(f, a, "linear_attn_config", a.linear.value_heads * a.linear.value_head_dim);
  if (a.linear.kind == "short_conv") need(f, a, "conv_L_cache", a.linear.conv);
  if (a.linear.kind == "mamba1" || a.linear.kind == "mamba2") need(f, a, "state_size", a.linear.state);
}

}  // namespace vram
