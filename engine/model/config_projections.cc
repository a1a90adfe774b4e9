#include <algorithm>

#include "engine/model/config_parts.h"

namespace vram {
namespace {

/// Share of a head's channels that are rotated.
double rotary_fraction(const Fields& f, const Architecture& a) {
  const double fraction =
      f.section("rope_parameters").number("partial_rotary_factor", f.number("partial_rotary_factor"));
  if (fraction > 0) return fraction;
  const double channels = f.count("rotary_dim");
  return channels > 0 && a.head_dim > 0 ? channels / a.head_dim : 1;
}

/// Tables of cosines and sines, in lengths of the model: a linearly scaled one holds its positions factor times
/// (vLLM, rotary_embedding.py, LinearScalingRotaryEmbedding), Gemma 3's window layers have one of their own
/// (gemma3.py).
double rotary_tables(const Fields& f) {
  const bool renamed = f.has("rope_parameters");
  const Fields scaling = f.section(renamed ? "rope_parameters" : "rope_scaling");
  const std::string type = scaling.text("rope_type", scaling.text("type").c_str());
  const bool longer = type == "linear" || type == "dynamic";
  return (longer ? std::max(1.0, scaling.number("factor", 1)) : 1) + (f.flag("_local_rotary") ? 1 : 0);
}

void read_position(const Fields& f, Architecture& a) {
  if (f.has("alibi") && f.flag("alibi")) a.position = "alibi";
  if (f.text("position_embedding_type") == "alibi") a.position = "alibi";
  if (f.text("position_embedding_type") == "nope") a.position = "none";
  if (f.has("_alibi_without")) {  // Baichuan: 7B and 13B share a model_type
    const std::vector<std::string> names = f.names();
    if (std::find(names.begin(), names.end(), f.text("_alibi_without")) == names.end()) a.position = "alibi";
  }
  if (f.has("learned_pos_emb") && a.position != "alibi") a.position = f.flag("learned_pos_emb") ? "learned" : "none";
  a.learned_positions = a.position == "learned";
  if (a.learned_positions && f.has("_position_offset")) a.position_rows = a.max_positions + f.count("_position_offset");
  if (a.position == "rope") a.rotary_fraction = rotary_fraction(f, a) * rotary_tables(f);
}

/// Norms of a layer that adds attention and MLP to the same residual: one where they share it.
void read_parallel_residual(const Fields& f, Architecture& a) {
  if (f.has("_parallel")) a.parallel_residual = f.decided("_parallel");
  if (f.has("_one_norm_if")) a.norms_per_layer = f.decided("_one_norm_if") ? 1 : 2;
  if (!f.has("new_decoder_architecture")) return;
  a.parallel_residual = f.flag("new_decoder_architecture") || f.flag("parallel_attn", true);
  const double own = f.flag("new_decoder_architecture") ? 2 : 1;  // ln_attn and ln_mlp, or input_layernorm
  a.norms_per_layer = a.parallel_residual ? f.count("num_ln_in_parallel_attn", own) : 2;
}

}  // namespace

void read_projections(const Fields& f, Architecture& a) {
  a.hidden_act = f.text("hidden_act", a.hidden_act.c_str());
  a.gated = f.decided("_gated");
  a.tied = f.flag("tie_word_embeddings");
  a.qkv_bias = f.decided("_qkv_bias");
  a.o_bias = f.decided("_o_bias");
  a.mlp_bias = f.decided("_mlp_bias");
  a.head_bias = f.decided("_head_bias");
  a.qk_norm = f.decided("_qk_norm");
  if (!a.qk_norm) a.qk_norm_kind.clear();
  if (f.has("_norm_bias")) a.norm_bias = f.decided("_norm_bias");
  if (f.has("do_layer_norm_before"))
    a.final_norm = f.flag("do_layer_norm_before") && !f.flag("_remove_final_layer_norm");
  if (f.has("post_layer_norm")) a.final_norm = f.flag("post_layer_norm");
  if (f.has("attn_output_gate")) a.output_gate = f.flag("attn_output_gate");
  a.swiglu_limit = f.number("swiglu_limit", a.swiglu_limit);
  a.softcap = f.number("attn_logit_softcapping", a.softcap);
  read_parallel_residual(f, a);
  read_position(f, a);
}

void read_latent_attention(const Fields& f, Architecture& a) {
  a.kv_lora_rank = f.count("kv_lora_rank");
  const double v_head_dim = f.count("v_head_dim");
  if (v_head_dim != a.head_dim || a.kv_lora_rank > 0) a.v_head_dim = v_head_dim;
  if (a.kv_lora_rank == 0) return;
  a.q_lora_rank = f.count("q_lora_rank");
  a.nope_head_dim = f.count("qk_nope_head_dim");
  a.rope_head_dim = f.count("qk_rope_head_dim");
  a.head_dim = a.nope_head_dim + a.rope_head_dim;
}

}  // namespace vram
