#include <algorithm>

#include "engine/training/saved_tensors.h"

namespace vram {
namespace {

constexpr const char* kFlash = "FlashAttention, arXiv 2205.14135, algorithm 1: q, k, v, output and the log-sum-exp";
constexpr const char* kInput = "a linear with a weight gradient keeps its input; q, k and v share it";

/// q, k and v each cast the stream for themselves under autocast; a fused qkv projection casts once.
double input_copies(const LayerSetting& s) { return s.casts_inputs && !s.layernorm && !s.megatron ? 3 : 1; }

/// A norm that is one kernel with the linear behind it is not recomputed by itself: with Megatron's, latent attention's
/// alone is a module of its own (Megatron-LM, core/models/gpt/gpt_layer_specs.py, input_layernorm).
void save_input(const LayerSetting& s, const LayerKind& kind, SavedTensors& out) {
  if (!s.keeps_inputs) return;
  if (!s.recompute_norms || kind.attention.kv_lora_rank <= 0)
    out.push_back({"attention_input", "QKV input", Area::attention, "h", "hidden", s.h,
                   s.linear_input * input_copies(s), s.input_split, kInput});
  if (s.linear_input < s.e)
    out.push_back({"projection_input", "Output projection's quantised input", Area::attention, "h", "hidden", s.h,
                   s.linear_input, s.tp, "TransformerEngine keeps it beside the 16-bit output of attention"});
}

/// transformers' layers take the softmax in fp32, but for GPT-2's, OPT's, Falcon's and those with sinks.
bool upcasts_softmax(const Plan& plan) {
  const Architecture& a = plan.subject->architecture;
  const bool like_gpt2 = a.model_type.empty() && a.learned_positions;
  return plan.library == Library::hf && !like_gpt2 && a.model_type != "gpt2" && a.model_type != "opt" &&
         a.model_type != "falcon" && !a.attention_sinks;
}

/// Bytes of a score: softmax, its 16-bit copy where it is taken in fp32; with dropout a mask, and the dropped copy
/// where the 16-bit one does not take its place.
double score_bytes(const Plan& plan, const LayerSetting& s) {
  const bool copied = upcasts_softmax(plan) && s.e == 2;
  double bytes = copied ? 4 + s.e : s.e;
  if (plan.subject->architecture.softcap > 0) bytes += s.e;  // tanh keeps its output
  if (plan.dropout && s.trained) bytes += copied ? 1 : 1 + s.e;
  return bytes;
}

void save_scores(const Plan& plan, const LayerSetting& s, double heads, SavedTensors& out) {
  if (s.recompute_core) return;
  if (!s.eager) {
    out.push_back({"lse", "Log-sum-exp", Area::attention, "a", "heads", heads, 4, s.tp, kFlash});
    return;
  }
  out.push_back({"scores", "Softmax of the scores", Area::attention, "a s", "scores of a token", heads * plan.seq,
                 score_bytes(plan, s), s.tp, "arXiv 2205.05198, equation 1: 2 a s, 5 a s with dropout"});
}

/// Where core attention is recomputed its output stays as the next linear's input alone, quantised in 8 and 4 bit.
bool drops_output(const LayerSetting& s) { return s.recompute_core && s.keeps_inputs && s.linear_input < s.e; }

/// q, k, v and the output. Eager attention repeats k and v for every head, and so do some layers before flash.
void save_heads(const LayerSetting& s, const Attention& t, SavedTensors& out) {
  const double q = t.heads * t.qk_head_dim, k = t.kv_heads * t.qk_head_dim, v = t.kv_heads * t.v_head_dim;
  const double output = t.heads * t.v_head_dim, kept_output = drops_output(s) ? 0 : output;
  const double q_copies = s.keeps_qkv ? 2 : 1, k_copies = q_copies;
  out.push_back({"q", "Queries and output", Area::attention, "a d", "elements of Q and output",
                 q * q_copies + kept_output, s.e, s.tp, kFlash});
  if (s.eager || s.repeats_kv) {
    out.push_back({"kv", "Keys and values, repeated for every head", Area::attention, "a d", "key and value width",
                   q + output, s.e, s.tp, "repeat_kv: such attention gains nothing from grouped heads"});
    return;
  }
  out.push_back({"kv", "Keys and values", Area::attention, "k d", "elements of K and V", k * k_copies + v, s.e,
                 std::max(1.0, std::min(s.tp, t.kv_heads)), kFlash});
}

/// Megatron's norms keep contiguous copies of q and k, which are slices of one projection; what they give is kept, too,
/// where no rotation follows (Megatron-LM, core/transformer/attention.py; TransformerEngine, ops/basic/rmsnorm.py).
double query_key_norm_bytes(const Plan& plan, const LayerSetting& s) {
  const bool weighs = plan.subject->architecture.qk_norm_kind != "none_weights";  // Llama 4's L2 norm has no weight
  if (!s.megatron) return s.fused_norm ? s.e : weighs ? eager_norm_bytes(s) : 4;
  return s.keeps_qkv ? s.e : 2 * s.e;
}

void save_query_key_norms(const Plan& plan, const LayerSetting& s, const LayerKind& kind, SavedTensors& out) {
  const Attention& t = kind.attention;
  if (!kind.qk_norm) return;
  constexpr const char* note = "transformers, models/qwen3: fp32 copy and normalised copy of q and k";
  out.push_back({"qk_norm", "QK norms", Area::attention, "(a + k) d", "query and key width",
                 (t.heads + t.kv_heads) * t.qk_head_dim, query_key_norm_bytes(plan, s), s.tp, note});
  const double norms = plan.subject->architecture.qk_norm_kind == "full" ? 2 : t.heads + t.kv_heads;
  out.push_back({"qk_statistics", "QK norm statistics", Area::attention, "a + k", "norms", norms, 4, s.tp, note});
}

/// Per-token state updates of linear attention and state-space models keep the projections' outputs and what the
/// convolution and gates make of them. A first estimate, no measured figure behind it.
void save_mixer(const LayerSetting& s, const LayerKind& kind, SavedTensors& out) {
  double outputs = 0;
  for (const Matrix& m : kind.matrices)
    if (m.part == Part::linear_mixer && m.linear) outputs += m.rows * m.copies;
  out.push_back({"projections", "Projections and what follows them", Area::mixer, "Σ", "outputs of the projections",
                 outputs, 2 * s.e, s.tp,
                 "an estimate: each projection's output before and after convolution and gate"});
}

}  // namespace

void save_attention(const Plan& plan, const LayerSetting& s, const LayerKind& kind, SavedTensors& out) {
  if (kind.mixer == Mixer::none) return;
  save_input(s, kind, out);
  if (kind.mixer == Mixer::linear || kind.mixer == Mixer::state_space) return save_mixer(s, kind, out);
  if (kind.attention.kv_lora_rank > 0) return save_latent_attention(plan, s, kind, out);
  save_heads(s, kind.attention, out);
  save_query_key_norms(plan, s, kind, out);
  if (plan.subject->architecture.output_gate)
    out.push_back({"output_gate", "Output gate", Area::attention, "a d", "output width",
                   kind.attention.heads * kind.attention.v_head_dim, 3 * s.e, s.tp,
                   "gate, its sigmoid and the gated output"});
  save_scores(plan, s, kind.attention.heads, out);
}

void save_latent_attention(const Plan& plan, const LayerSetting& s, const LayerKind& kind, SavedTensors& out) {
  const Attention& t = kind.attention;
  const double latents = t.q_lora_rank + t.kv_lora_rank, dn = t.nope_head_dim, dr = t.rope_head_dim, dv = t.v_head_dim;
  const double norm = s.fused_norm ? s.e : eager_norm_bytes(s);
  out.push_back({"latents", "Latents and their norms", Area::attention, "q_r + kv_r", "latent widths", latents,
                 norm + (s.trained ? s.e : 0), s.sp, "transformers 5, models/deepseek_v3: 8 B a latent element"});
  out.push_back({"latent_statistics", "Latent norm statistics", Area::attention, "2", "norms",
                 t.q_lora_rank > 0 ? 2.0 : 1.0, 4, s.sp, "fp32, a value a token"});
  if (!s.recompute_latent) {
    const double width = s.eager ? 2 * (dn + dr + dv)         // q, k, v and output
                                 : 2 * dr + 3 * dn + 2 * dv;  // v is a view that keeps kv_b's output alive
    const double output = drops_output(s) ? dv : 0;
    out.push_back({"heads", "Queries, keys, values, output", Area::attention, "a d", "elements of Q, K, V and output",
                   t.heads * (width - output), s.e, s.tp, "transformers 5, models/deepseek_v3, sdpa and eager"});
  }
  save_scores(plan, s, t.heads, out);
}

}  // namespace vram
