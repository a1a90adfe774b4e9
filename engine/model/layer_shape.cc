#include "engine/model/layer_shape.h"

#include <cmath>

#include "engine/model/matrices.h"

namespace vram {
namespace {

Mixer mixer_of(const Architecture& a, std::string_view letters, size_t index) {
  if (letters.empty()) return a.window > 0 ? Mixer::sliding : Mixer::full;
  switch (letters[index % letters.size()]) {
    case 's':
      return a.window > 0 ? Mixer::sliding : Mixer::full;
    case 'l':
      return Mixer::linear;
    case 'm':
      return Mixer::state_space;
    case 'x':
      return Mixer::none;
    default:
      return Mixer::full;
  }
}

double per_layer(const std::vector<double>& values, size_t index, double otherwise) {
  return values.empty() ? otherwise : values[index % values.size()];
}

bool is_moe_layer(const Architecture& a, size_t index) {
  const double i = static_cast<double>(index);
  if (a.experts <= 0 || i < a.dense_layers) return false;
  return a.moe_every <= 1 || std::fmod(i, a.moe_every) == std::fmod(a.moe_offset, a.moe_every);
}

FfnKind ffn_kind_of(const Architecture& a, size_t index) {
  if (!a.ffn_kinds.empty()) {
    const char letter = a.ffn_kinds[index % a.ffn_kinds.size()];
    return letter == 'x' ? FfnKind::none : letter == 'e' ? FfnKind::moe : FfnKind::dense;
  }
  if (!a.ffn_per_layer.empty() && per_layer(a.ffn_per_layer, index, a.ffn) <= 0) return FfnKind::none;
  return is_moe_layer(a, index) ? FfnKind::moe : FfnKind::dense;
}

bool reuses_kv(const Architecture& a, size_t index) {
  const double i = static_cast<double>(index);
  if (a.kv_share_every > 1) return std::fmod(i, a.kv_share_every) != 0;
  return a.kv_shared_layers > 0 && i >= a.layers - a.kv_shared_layers;
}

bool has_indexer(const Architecture& a, size_t index) {
  return a.index_heads > 0 && (a.index_pattern.empty() || a.index_pattern[index % a.index_pattern.size()] != 'x');
}

bool has_attention(Mixer mixer) { return mixer == Mixer::full || mixer == Mixer::sliding; }

/// Hidden-size norms: half of them where a layer has only a mixer or only an FFN.
double norms_of(const Architecture& a, const LayerShape& shape) {
  const bool half = shape.mixer == Mixer::none || shape.ffn == FfnKind::none;
  return half ? std::ceil(a.norms_per_layer / 2) : a.norms_per_layer;
}

}  // namespace

double head_dim_of(const Architecture& a) { return a.head_dim > 0 ? a.head_dim : a.heads > 0 ? a.hidden / a.heads : 0; }

double kv_heads_of(const Architecture& a) { return a.kv_heads > 0 ? a.kv_heads : a.heads; }

LayerShape layer_shape(const Architecture& a, std::string_view letters, size_t index) {
  LayerShape shape;
  shape.mixer = mixer_of(a, letters, index);
  shape.ffn = ffn_kind_of(a, index);
  if (shape.ffn == FfnKind::dense) shape.ffn_width = per_layer(a.ffn_per_layer, index, a.ffn);
  if (!has_attention(shape.mixer)) return shape;
  const bool full_letter = letters.empty() || letters[index % letters.size()] == 'f';
  shape.global = full_letter && (a.global_head_dim > 0 || a.global_kv_heads > 0 || a.global_k_eq_v);
  shape.heads = per_layer(a.heads_per_layer, index, a.heads);
  shape.kv_heads = per_layer(a.kv_heads_per_layer, index, kv_heads_of(a));
  if (shape.global && a.global_kv_heads > 0) shape.kv_heads = a.global_kv_heads;
  shape.reuses_kv = reuses_kv(a, index);
  shape.indexer = has_indexer(a, index);
  return shape;
}

Attention layer_attention(const Architecture& a, const LayerShape& shape) {
  Attention t;
  if (shape.heads <= 0) return t;
  t.heads = shape.heads;
  t.kv_heads = shape.kv_heads;
  t.window = shape.mixer == Mixer::sliding ? a.window : 0;
  t.reuses_kv = shape.reuses_kv;
  t.index_head_dim = shape.indexer ? a.index_head_dim : 0;
  if (a.kv_lora_rank > 0) {
    t.q_lora_rank = a.q_lora_rank;
    t.kv_lora_rank = a.kv_lora_rank;
    t.nope_head_dim = a.nope_head_dim;
    t.rope_head_dim = a.rope_head_dim;
    t.qk_head_dim = a.nope_head_dim + a.rope_head_dim;
    t.v_head_dim = a.v_head_dim > 0 ? a.v_head_dim : a.nope_head_dim;
    return t;
  }
  t.qk_head_dim = shape.global && a.global_head_dim > 0 ? a.global_head_dim : head_dim_of(a);
  const bool own_width = shape.global && a.global_head_dim > 0;
  t.v_head_dim = a.v_head_dim > 0 && !own_width ? a.v_head_dim : t.qk_head_dim;
  t.k_eq_v = shape.global && a.global_k_eq_v;
  return t;
}

Ffn layer_ffn(const Architecture& a, const LayerShape& shape) {
  Ffn ffn;
  ffn.kind = shape.ffn;
  ffn.gated = shape.ffn != FfnKind::none && a.gated;
  ffn.width = shape.ffn_width;
  if (shape.ffn != FfnKind::moe) return ffn;
  ffn.experts = a.experts;
  ffn.experts_per_token = a.experts_per_token > 0 ? a.experts_per_token : 1;
  ffn.expert_width = a.expert_ffn > 0 ? a.expert_ffn : a.ffn;
  ffn.shared_width = a.shared_ffn > 0 ? a.shared_ffn : a.shared_experts * ffn.expert_width;
  return ffn;
}

LayerKind layer_kind(const Architecture& a, const LayerShape& shape) {
  LayerKind kind;
  kind.mixer = shape.mixer;
  kind.attention = layer_attention(a, shape);
  kind.ffn = layer_ffn(a, shape);
  kind.norms = norms_of(a, shape);
  kind.qk_norm = a.qk_norm && has_attention(shape.mixer);
  if (shape.mixer == Mixer::linear || shape.mixer == Mixer::state_space) {
    kind.state_elements = a.state_elements > 0 ? a.state_elements : recurrent_state_elements(a.linear);
    kind.conv_state_elements = conv_state_elements(a.linear);
    LayerShape as_attention = shape;
    as_attention.heads = a.heads;
    as_attention.kv_heads = kv_heads_of(a);
    add_linear_mixer(a, layer_attention(a, as_attention), kind.matrices);
  } else if (has_attention(shape.mixer)) {
    add_attention(a, kind.attention, kind.matrices);
  }
  add_norm(a, "layer_norms", a.hidden, kind.norms, kind.matrices);
  add_ffn(a, kind.ffn, kind.matrices);
  add_layer_extras(a, kind.matrices);
  return kind;
}

}  // namespace vram
