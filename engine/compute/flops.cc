#include "engine/compute/flops.h"

#include <algorithm>
#include <cmath>

#include "engine/compute/compute.h"
#include "engine/compute/recomputed.h"

namespace vram {
namespace {

constexpr double kMultiplyAdd = 2;  // a multiplication and an addition

/// A weight meets a token once forward and twice backward (its input's gradient and its own);
/// a frozen one needs only its input's gradient.
double passes(const Plan& plan) { return plan.method == Method::full ? 3 : 2; }
/// Core attention has no weights: LoRA saves nothing there.
constexpr double kAttentionPasses = 3;

/// Megatron-LM's count leaves routers out (megatron/training/training.py, num_floating_point_operations).
double gemm_weights(const LayerKind& kind) {
  double weights = 0;
  const double active = kind.ffn.experts > 0 ? kind.ffn.experts_per_token / kind.ffn.experts : 1;
  for (const Matrix& matrix : kind.matrices) {
    if (!matrix.linear || matrix.part == Part::router) continue;
    weights += matrix.count() * (is_routed_expert(matrix.part) ? active : 1);
  }
  return weights;
}

/// Average keys a query of a sequence of `tokens` meets in a layer that looks back at most `window` (0 = no limit).
double keys(double tokens, double window, Causal causal) {
  const bool limited = window > 0 && window < tokens && causal != Causal::half_without_windows;
  if (causal == Causal::full) return limited ? window : tokens;
  // Megatron-Bridge flop_utils.py: W (W + 1) / 2 + (T - W) W over T; and T / 2 without a window.
  return limited ? window - window * (window - 1) / (2 * tokens) : tokens / 2;
}

double attention_forward(const Model& model, const LayerKind& kind, double tokens, Causal causal) {
  const Attention& a = kind.attention;
  const double seen = keys(tokens, kind.mixer == Mixer::sliding ? a.window : 0, causal);
  const double topk = model.architecture.index_topk;
  const bool sparse = topk > 0 && a.index_head_dim > 0;
  const double attended = sparse ? std::min(seen, topk) : seen;
  const double indexer = sparse ? seen * model.architecture.index_heads * a.index_head_dim : 0;
  return kMultiplyAdd * (attended * a.heads * a.qk_head_dim   // scores
                         + attended * a.heads * a.v_head_dim  // scores x values
                         + indexer);                          // scores of the sparse attention's indexer
}

/// Megatron-LM training.py: a gated delta layer does 4 multiply-adds an element of its state (KK', VK', S(a(I-bKK'))
/// and SQ); Mamba's scan 7 operations an element.
double recurrence_forward(const LayerKind& kind) {
  constexpr double kDeltaUpdates = 4, kMambaScan = 7;
  return kind.mixer == Mixer::linear ? kMultiplyAdd * kDeltaUpdates * kind.state_elements
                                     : kMambaScan * kind.state_elements;
}

double core_forward(const Model& model, const LayerKind& kind, double tokens, Causal causal) {
  if (kind.mixer == Mixer::full || kind.mixer == Mixer::sliding) return attention_forward(model, kind, tokens, causal);
  return kind.mixer == Mixer::none ? 0 : recurrence_forward(kind);
}

double round_up(double value, double multiple) { return multiple > 1 ? std::ceil(value / multiple) * multiple : value; }

double vocab_multiple(const Plan& plan) { return std::max(1.0, plan.vocab_pad) * std::max(1.0, plan.tp); }

double active_parameters(const Model& model) {
  return model.active_parameters > 0 ? model.active_parameters * model.scale() : model.nominal_parameters;
}

/// 2 x 3 x parameters: with all of them the 6 N of everybody's whiteboard.
TokenFlops by_parameters(const Plan& plan, double parameters) {
  TokenFlops flops;
  flops.layers = kMultiplyAdd * passes(plan) * parameters;
  return flops;
}

/// Megatron-Bridge takes a Mamba layer's inner width as twice the hidden size (flop_utils.py, mamba_layer_flops: z and
/// x in, y out; its scan differs likewise, by less than a hundredth).
double weights_bridge_adds(const Model& model) {
  const Architecture& a = model.architecture;
  double weights = 0;
  if (a.linear.kind != "mamba2") return weights;
  for (uint8_t kind : model.layers) {
    const bool mamba = model.kinds[kind].mixer == Mixer::state_space;
    weights += mamba ? 3 * a.hidden * (2 * a.hidden - a.linear.inner) : 0;
  }
  return weights * model.scale();
}

/// Up to its container 26.04 Megatron-Bridge took a gated MLP for two matrices unless its activation was SiLU itself
/// (flop_utils.py before May 2026): of gpt-oss, which clamps, and of GeGLU it left the gates out.
double weights_bridge_missed(const Model& model) {
  const Architecture& a = model.architecture;
  if (a.hidden_act == "silu" && !(a.swiglu_limit > 0)) return 0;
  double weights = 0;
  for (uint8_t index : model.layers) {
    const LayerKind& kind = model.kinds[index];
    const double active = kind.ffn.experts > 0 ? kind.ffn.experts_per_token / kind.ffn.experts : 1;
    for (const Matrix& matrix : kind.matrices)
      if (is_gate(matrix.part)) weights += matrix.count() * (is_routed_expert(matrix.part) ? active : 1);
  }
  return weights * model.scale();
}

/// Korthikanti et al. 2022 (arXiv 2205.05198) Appendix A: 72 L h^2 (1 + s/6h + V/12hL), here matrix by matrix, so that
/// it holds for grouped queries, gated and expert layers as well; Megatron-LM's num_floating_point_operations up to
/// core 0.11 (full attention) and, with Causal::half, Megatron-Bridge's flop_utils.py. Prediction modules count.
TokenFlops by_matrices(const Plan& plan, Causal causal) {
  const Model& model = *plan.subject;
  const ActiveWeights weights = active_gemm_weights(model, vocab_multiple(plan));
  TokenFlops flops;
  flops.layers = kMultiplyAdd * passes(plan) * weights.layers;
  flops.head = kMultiplyAdd * passes(plan) * weights.head;
  flops.attention = kAttentionPasses * core_attention_forward_flops(model, plan.seq, causal);
  if (plan.library != Library::megatron) return flops;  // the only one that trains prediction modules
  for (const LayerKind& module : model.mtp) {           // each ends in the model's own head
    flops.layers += kMultiplyAdd * passes(plan) * model.scale() * gemm_weights(module);
    flops.head += kMultiplyAdd * passes(plan) * weights.head;
    flops.attention += kAttentionPasses * core_forward(model, module, plan.seq, causal);
  }
  return flops;
}

/// Megatron-Bridge's flop_utils.py: the lower triangle. Under LoRA it counts the samples that were packed into a
/// sequence by their own lengths; those of its published runs are SQuAD's, of some 200 tokens, whose attention is
/// nothing (2,072 TFLOPS of Llama 3 70B at 7,447 tokens/s are 4 x the parameters without embedding).
TokenFlops bridge(const Plan& plan, Causal causal) {
  const Model& model = *plan.subject;
  TokenFlops flops = by_matrices(plan, causal);
  const double missed = causal == Causal::half_without_windows ? weights_bridge_missed(model) : 0;
  flops.layers += kMultiplyAdd * passes(plan) * (weights_bridge_adds(model) - missed);
  if (plan.method != Method::full) flops.attention = 0;
  return flops;
}

/// 6 x the parameters of the layers: Kaplan et al. 2020 (arXiv 2001.08361) section 2.1, whose N is "non-embedding",
/// 12 L h^2 for GPT.
TokenFlops kaplan(const Plan& plan) {
  const Model& model = *plan.subject;
  double vocabulary = model.embedding_parameters;
  for (const Matrix& matrix : model.head) vocabulary += matrix.part == Part::head ? matrix.count() : 0;
  return by_parameters(plan, active_parameters(model) - model.scale() * vocabulary);
}

/// Forward, of the matrices that Megatron-LM's selective recomputation repeats.
double modules_flops(const Plan& plan) {
  if (plan.recompute_modules.empty()) return 0;
  const Model& model = *plan.subject;
  double weights = 0;
  for (size_t kind = 0; kind < model.kinds.size(); ++kind) {
    const double layers = model.layers_of_kind(kind, 0, model.layers.size());
    if (layers > 0) weights += layers * gemm_weights(recomputed_modules(plan, model.kinds[kind]));
  }
  return kMultiplyAdd * weights * model.scale();
}

/// 6 N + attention: PaLM (arXiv 2204.02311) Appendix B, 12 L H Q T; N is every parameter.
TokenFlops palm(const Plan& plan) {
  TokenFlops flops = by_parameters(plan, active_parameters(*plan.subject));
  flops.attention = kAttentionPasses * core_attention_forward_flops(*plan.subject, plan.seq, Causal::full);
  return flops;
}

/// 6 N + 12 L h s: llm-foundry, llmfoundry/models/mpt/modeling_mpt.py, flops_per_batch: h where PaLM has heads x
/// head dim, and no credit for windows.
TokenFlops foundry(const Plan& plan) {
  const Model& model = *plan.subject;
  TokenFlops flops = by_parameters(plan, active_parameters(model));
  flops.attention = kMultiplyAdd * kAttentionPasses * 2 *  // scores and values
                    static_cast<double>(model.layers.size()) * model.architecture.hidden * plan.seq;
  return flops;
}

/// 6 (N - embedding tables) + 12 L H Q T: torchtitan, models/utils.py, get_dense_model_nparams_and_flops.
TokenFlops titan(const Plan& plan) {
  const Model& model = *plan.subject;
  TokenFlops flops = by_parameters(plan, active_parameters(model) - model.scale() * model.embedding_parameters);
  flops.attention = kAttentionPasses * core_attention_forward_flops(model, plan.seq, Causal::full);
  return flops;
}

}  // namespace

double layer_attention_flops(const Model& model, const LayerKind& kind, double tokens, Causal causal) {
  return core_forward(model, kind, tokens, causal);
}

double core_attention_forward_flops(const Model& model, double tokens, Causal causal) {
  double flops = 0;
  for (size_t kind = 0; kind < model.kinds.size(); ++kind) {
    const double layers = model.layers_of_kind(kind, 0, model.layers.size());
    flops += layers * core_forward(model, model.kinds[kind], tokens, causal);
  }
  return flops;
}

ActiveWeights active_gemm_weights(const Model& model, double padding) {
  ActiveWeights weights;
  for (size_t kind = 0; kind < model.kinds.size(); ++kind) {
    const double layers = model.layers_of_kind(kind, 0, model.layers.size());
    weights.layers += layers * gemm_weights(model.kinds[kind]);
  }
  for (const Matrix& matrix : model.head) {
    if (matrix.part == Part::head) weights.head += round_up(matrix.rows, padding) * matrix.cols;
  }
  weights.layers *= model.scale();
  weights.head *= model.scale();
  return weights;
}

TokenFlops training_flops(const Plan& plan, FlopsConvention convention) {
  if (!plan.subject->has_shape) return by_parameters(plan, active_parameters(*plan.subject));
  switch (convention) {
    case FlopsConvention::six_n:
      return by_parameters(plan, active_parameters(*plan.subject));
    case FlopsConvention::kaplan:
      return kaplan(plan);
    case FlopsConvention::palm:
      return palm(plan);
    case FlopsConvention::foundry:
      return foundry(plan);
    case FlopsConvention::titan:
      return titan(plan);
    case FlopsConvention::bridge:
      return bridge(plan, Causal::half);
    case FlopsConvention::bridge_26_04:
      return bridge(plan, Causal::half_without_windows);
    case FlopsConvention::megatron:
      return by_matrices(plan, Causal::full);
  }
  return {};
}

double recompute_flops(const Plan& plan, const TokenFlops& model_flops) {
  const double layers = static_cast<double>(plan.subject->layers.size());
  const bool some = plan.has(Key::recompute_layers) && layers > 0;
  const double share = some ? std::min(1.0, plan.recompute_layers / layers) : 1;
  const double forward = model_flops.layers / passes(plan);
  const double attention = model_flops.attention / kAttentionPasses;
  switch (plan.recompute) {
    case Recompute::none:
      return 0;
    case Recompute::full:
      return share * (forward + attention);
    case Recompute::selective:
      // Megatron-LM recomputes modules; torchtitan's selective mode every other matrix product, attention kept.
      if (plan.framework == Framework::fsdp2) return share * forward / 2;
      return share * (modules_flops(plan) + (recomputes_core_attention(plan) ? attention : 0));
  }
  return 0;
}

double forward_flops_per_token(const Model& model, double context) {
  if (!model.has_shape) {
    const double attention = model.has_kv_shape ? core_attention_forward_flops(model, context, Causal::full) : 0;
    return kMultiplyAdd * active_parameters(model) + attention;
  }
  const ActiveWeights weights = active_gemm_weights(model, 1);
  return kMultiplyAdd * (weights.layers + weights.head) + core_attention_forward_flops(model, context, Causal::full);
}

}  // namespace vram
