#pragma once

#include <string>
#include <vector>

namespace vram {

/// A linear-attention or state-space mixer, in the fields its config.json gives.
struct LinearMixer {
  std::string kind;           // "", "gated_deltanet", "kda", "lightning", "mamba1", "mamba2", "short_conv"
  double key_heads = 0;       // gated_deltanet: linear_num_key_heads
  double value_heads = 0;     // gated_deltanet: linear_num_value_heads; mamba2, lightning, kda: heads
  double key_head_dim = 0;    // gated_deltanet: linear_key_head_dim
  double value_head_dim = 0;  // gated_deltanet: linear_value_head_dim; mamba2, lightning, kda: head dim
  double inner = 0;           // mamba: d_inner; short_conv: channels
  double state = 0;           // mamba: d_state
  double groups = 0;          // mamba2: n_groups
  double dt_rank = 0;         // mamba1
  double conv = 0;            // width of the short convolution
  bool conv_bias = false;
  bool bias = false;          // on the in and out projections
  bool inner_norms = false;   // mamba1 of Jamba: norms on dt, B and C
  bool narrow_state = false;  // no mamba_ssm_dtype "float32": vllm keeps the recurrent state in the model's type
  bool operator==(const LinearMixer&) const = default;
};

/// An architecture as flat as its config.json: plain values, nothing derived. 0 means none.
/// The first part holds what a plan key can say (same names as the keys); the second what only config.json
/// fields can (the share string's `arch`).
struct Architecture {
  // Said by plan keys of the same name.
  double layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, vocab = 0, max_positions = 0;
  bool gated = false, tied = false, qkv_bias = false, qk_norm = false, learned_positions = false;
  double experts = 0, experts_per_token = 0, expert_ffn = 0;
  double shared_experts = 0;                       // count of shared experts
  double shared_ffn = 0;                           // TOTAL width of all shared experts of a layer
  double expert_groups = 0, groups_per_token = 0;  // a token's experts lie in so many of these groups (DeepSeek-V3)
  double dense_layers = 0;                         // first layers without experts
  double moe_every = 0;                            // every n-th layer is MoE (0, 1: all)
  double q_lora_rank = 0, kv_lora_rank = 0, nope_head_dim = 0, rope_head_dim = 0, v_head_dim = 0;  // MLA
  double window = 0;    // tokens of a sliding (or chunked) layer
  std::string pattern;  // run-length layer kinds, repeated: "5s1f": s sliding, f full, l linear, m state space,
                        // x no mixer (an FFN-only layer); "" = all full (or all sliding where only `window` is given)
  double state_elements = 0;  // of a linear or state-space layer, per sequence
  double mtp_layers = 0, extra_params = 0;

  // Said only by config.json fields.
  std::string model_type;  // as config.json names it; "" for a custom model
  std::string hidden_act = "silu";
  std::string norm = "rmsnorm";  // rmsnorm, layernorm, layernorm_nonparametric
  double norms_per_layer = 2;    // hidden-size norm vectors a layer
  double norms_total = 0;        // overrides layers x norms_per_layer + final norm
  bool final_norm = true, norm_bias = false, embedding_norm = false;
  bool o_bias = false, mlp_bias = false, head_bias = false;
  bool parallel_residual = false;  // attention and MLP read the same input
  std::string qk_norm_kind;        // per_head, full, none_weights (L2 without weights)
  std::string position = "rope";   // rope, learned, alibi, none
  double rotary_fraction = 1;
  double position_rows = 0;  // rows of a learned position table, where not max_positions
  double embedding_dim = 0;  // OPT-350M: embeddings narrower than hidden, with two projections
  double moe_offset = 0;     // layer i is MoE iff i >= dense_layers and i % moe_every == moe_offset
  bool shared_expert_gate = false, router_bias = false, router_correction_bias = false, expert_bias = false;
  bool router_scales = false;  // a scale per input channel and one per expert (Gemma 4)
  double moe_latent = 0;       // width the experts work in, where narrower than hidden (Nemotron 3 Super)
  bool attention_sinks = false, output_gate = false;
  bool sinks_in_sliding_only = false;               // MiMo-V2
  double global_kv_heads = 0, global_head_dim = 0;  // full layers that differ from sliding ones (Gemma 4)
  bool global_k_eq_v = false;                       // full layers use K for V
  double kv_shared_layers = 0;                      // last layers that reuse the KV cache of earlier ones
  double kv_share_every = 0;           // of n layers in a row the first alone has keys and values (Hunyuan's CLA)
  bool kv_shared_projections = false;  // layers that reuse a cache still store their k and v projections (Gemma 3n)
  double index_heads = 0, index_head_dim = 0, index_topk = 0;  // sparse attention's indexer
  bool index_plain = false;       // MiniMax M3's indexer: q and k from hidden, a norm on each, no head weights
  std::string index_pattern;      // a letter a layer: f has an indexer, x uses an earlier layer's; "" = all have
  double softcap = 0;             // attn_logit_softcapping
  double swiglu_limit = 0;        // gate and up are clamped to it before they are multiplied (gpt-oss)
  double activation_scalars = 0;  // that the activation of an MLP learns (Apertus: xIELU has two)
  double laurel_rank = 0, altup_inputs = 0;         // Gemma 3n's low-rank residual and alternating updates
  double per_layer_input = 0, per_layer_vocab = 0;  // width and rows of embeddings that every layer has of its own
  std::vector<double> ffn_per_layer;                // where widths differ; 0 = no FFN in this layer
  std::vector<double> heads_per_layer, kv_heads_per_layer;  // where they differ
  std::string ffn_kinds;  // a letter a layer where a pattern mixes them: d dense, e MoE, x none
  LinearMixer linear;
  std::string dtype = "bf16";  // of the checkpoint: storage format id (engine/formats.h)
  std::string quantization;    // of the checkpoint where quantised: fp8, awq, gptq, mxfp4 ... ("" = none)
  std::string unquantized;     // what of it is not, a letter a layer, in run lengths: q all is quantised, a attention
                               // is not, m the MLP is not, x nothing is ("1x124a1x")
  double quantized_bits = 0;   // an element of what is quantised, scales included, where not the format's usual ones
  double head_bits = 0;        // of the output head, where that is quantised, too
  bool quantized_output = false;    // attention's output projection is, where the rest of attention is not
  bool unquantized_shared = false;  // shared experts are not
  bool has_vision = false;          // a tower outside the text model
  double tower = 0;                 // its parameters, which servers load; other figures are the text model's
  std::vector<double> image;  // its largest image: patches, tokens, elements of a patch in the stream, in an MLP and as
                              // pixels, outputs a token, 1 = interpolates positions; empty = its family's
  bool operator==(const Architecture&) const = default;
};

}  // namespace vram
