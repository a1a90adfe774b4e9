#include "engine/model/matrices.h"

namespace vram {

void add_linear(const Matrix& weight, bool bias, Matrices& out) {
  out.push_back(weight);
  if (bias) out.push_back({"bias", Part::bias, weight.shard, weight.rows, 1, weight.copies, false});
}

void add_norm(const Architecture& a, const char* name, double width, double copies, Matrices& out) {
  if (copies <= 0 || a.norm == "layernorm_nonparametric") return;
  out.push_back({name, Part::norm, Shard::replicated, width, 1, copies, false});
  if (a.norm_bias) out.push_back({"norm_bias", Part::norm, Shard::replicated, width, 1, copies, false});
}

namespace {

void add_qk_norm(const Architecture& a, const Attention& t, bool own_kv, Matrices& out) {
  if (!a.qk_norm || a.qk_norm_kind == "none_weights") return;
  if (a.qk_norm_kind == "full") {  // over all channels of Q and of K (OLMo 2, MiniMax M2, Command R+)
    out.push_back({"q_norm", Part::norm, Shard::tensor, t.heads * t.qk_head_dim, 1, 1, false});
    if (own_kv) out.push_back({"k_norm", Part::norm, Shard::kv_heads, t.kv_heads * t.qk_head_dim, 1, 1, false});
    return;
  }
  add_norm(a, "q_norm", t.qk_head_dim, 1, out);  // with a bias where the model's norms have one (Persimmon)
  if (own_kv) add_norm(a, "k_norm", t.qk_head_dim, 1, out);
}

/// MiniMax M3's block indexer: modular_minimax_m3_vl.py, MiniMaxM3VLIndexer.
void add_plain_indexer(const Architecture& a, const Attention& t, Matrices& out) {
  const double width = t.index_head_dim;
  out.push_back({"indexer_q_proj", Part::qkv_other, Shard::replicated, a.index_heads * width, a.hidden});
  out.push_back({"indexer_k_proj", Part::qkv_other, Shard::replicated, width, a.hidden});
  out.push_back({"indexer_norms", Part::norm, Shard::replicated, width, 1, 2, false});  // on q and on k
}

/// Sparse attention's "lightning indexer": DeepSeek-V3.2-Exp, inference/model.py, class Indexer.
void add_indexer(const Architecture& a, const Attention& t, Matrices& out) {
  if (a.index_heads <= 0 || t.index_head_dim <= 0) return;
  if (a.index_plain) return add_plain_indexer(a, t, out);
  const double query_input = t.q_lora_rank > 0 ? t.q_lora_rank : a.hidden;
  const double width = t.index_head_dim;
  out.push_back({"indexer_wq_b", Part::qkv_other, Shard::replicated, a.index_heads * width, query_input});
  out.push_back({"indexer_wk", Part::qkv_other, Shard::replicated, width, a.hidden});
  out.push_back({"indexer_k_norm", Part::norm, Shard::replicated, width, 1, 2, false});  // a LayerNorm: weight and bias
  out.push_back({"indexer_weights_proj", Part::qkv_other, Shard::replicated, a.index_heads, a.hidden});
}

/// Multi-head latent attention: DeepSeek-V2 (arXiv 2405.04434), section 2.1 and appendix C.
void add_latent_attention(const Architecture& a, const Attention& t, Matrices& out) {
  const double q_rows = t.heads * (t.nope_head_dim + t.rope_head_dim);
  if (t.q_lora_rank > 0) {
    add_linear({"q_a_proj", Part::qkv_other, Shard::replicated, t.q_lora_rank, a.hidden}, a.qkv_bias, out);
    add_norm(a, "q_a_norm", t.q_lora_rank, 1, out);
    out.push_back({"q_b_proj", Part::q, Shard::tensor, q_rows, t.q_lora_rank});
  } else {
    out.push_back({"q_proj", Part::q, Shard::tensor, q_rows, a.hidden});
  }
  add_linear({"kv_a_proj_with_mqa", Part::qkv_other, Shard::replicated, t.kv_lora_rank + t.rope_head_dim, a.hidden},
             a.qkv_bias, out);
  add_norm(a, "kv_a_norm", t.kv_lora_rank, 1, out);
  out.push_back(
      {"kv_b_proj", Part::qkv_other, Shard::tensor, t.heads * (t.nope_head_dim + t.v_head_dim), t.kv_lora_rank});
  add_indexer(a, t, out);
}

/// Multi-head, grouped-query and multi-query attention: arXiv 2305.13245.
void add_grouped_attention(const Architecture& a, const Attention& t, Matrices& out) {
  const double q_rows =
      t.heads * t.qk_head_dim * (a.output_gate ? 2 : 1);  // the output gate is a second half of q_proj
  const bool own_kv = !t.reuses_kv || a.kv_shared_projections;
  add_linear({"q_proj", Part::q, Shard::tensor, q_rows, a.hidden}, a.qkv_bias, out);
  if (own_kv) add_linear({"k_proj", Part::k, Shard::kv_heads, t.kv_heads * t.qk_head_dim, a.hidden}, a.qkv_bias, out);
  if (own_kv && !t.k_eq_v)
    add_linear({"v_proj", Part::v, Shard::kv_heads, t.kv_heads * t.v_head_dim, a.hidden}, a.qkv_bias, out);
  add_qk_norm(a, t, own_kv, out);
  if (a.attention_sinks && (t.window > 0 || !a.sinks_in_sliding_only))
    out.push_back({"sinks", Part::other, Shard::tensor, t.heads, 1, 1, false});
  add_indexer(a, t, out);
}

}  // namespace

void add_attention(const Architecture& a, const Attention& t, Matrices& out) {
  if (t.kv_lora_rank > 0) {
    add_latent_attention(a, t, out);
  } else {
    add_grouped_attention(a, t, out);
  }
  out.push_back({"o_proj", Part::o, Shard::tensor, a.hidden, t.heads * t.v_head_dim});
  if (a.o_bias) out.push_back({"o_bias", Part::bias, Shard::replicated, a.hidden, 1, 1, false});
}

}  // namespace vram
