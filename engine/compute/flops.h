#pragma once

#include "engine/plan/plan.h"

namespace vram {

/// How many keys one query meets, on average.
enum class Causal : uint8_t {
  full,  // every query meets the whole sequence (or window): what flash kernels skip is counted all the same
  half,  // the lower triangle only
  half_without_windows  // of the whole sequence, whatever a layer's window
};

/// FLOPs of one token, forward, of what is not a weight: scores and their product with the values; recurrent state
/// updates. Attention of the whole model at sequence length `tokens`.
double core_attention_forward_flops(const Model& model, double tokens, Causal causal);

/// The same of one layer of that kind.
double layer_attention_flops(const Model& model, const LayerKind& kind, double tokens, Causal causal);

/// Weights that multiply a token, by the matrix: active experts only, no embedding table, no router, no norms.
/// `vocab_multiple`: the head's rows are padded to it.
struct ActiveWeights {
  double layers = 0, head = 0;
};
ActiveWeights active_gemm_weights(const Model& model, double vocab_multiple);

/// Training FLOPs of one token by a convention: what its layers, its head and its core attention cost.
struct TokenFlops {
  double layers = 0;  // weights of the layers (of the whole model where the convention does not tell them apart)
  double head = 0;
  double attention = 0;  // core attention: scores, values, recurrent state
  double total() const { return layers + head + attention; }
};

TokenFlops training_flops(const Plan& plan, FlopsConvention convention);

/// What recomputation adds, by the same convention.
double recompute_flops(const Plan& plan, const TokenFlops& model_flops);

}  // namespace vram
