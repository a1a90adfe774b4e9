#include "engine/compute/elementwise.h"

#include <algorithm>

#include "engine/compute/achieved.h"
#include "engine/compute/products.h"

namespace vram {
namespace {

MemoryBytes operator+(const MemoryBytes& a, const MemoryBytes& b) {
  return {a.forward + b.forward, a.backward + b.backward};
}
MemoryBytes operator*(double times, const MemoryBytes& a) { return {times * a.forward, times * a.backward}; }

double element_bytes(const Plan& plan) { return plan.precision == Precision::fp32 ? 4 : 2; }

/// How often the tensors of fused kernels go through memory.
double passes(const Plan& plan) { return plan.compile || plan.kernels == Kernels::fused ? 1 : kEagerTraffic; }

/// Passes of a norm that is no single kernel, for one of a single kernel.
double composed_norms(const Plan& plan) {
  const bool one_kernel = plan.compile || plan.kernels == Kernels::fused || plan.library == Library::unsloth;
  return plan.subject->architecture.norm == "rmsnorm" && !one_kernel ? kComposedNorm : 1;
}

/// Reads and writes of elements. A norm reads and writes its input; backward reads input and gradient and writes one.
/// An addition to the residual stream reads two and writes one; backward adds two gradients.
MemoryBytes stream_elements(const LayerKind& kind, double hidden, double composed) {
  const double additions = (kind.mixer != Mixer::none ? 1 : 0) + (kind.ffn.kind != FfnKind::none ? 1 : 0);
  return {hidden * (kind.norms * 2 * composed + additions * 3), hidden * (kind.norms * 3 * composed + additions * 3)};
}

/// Rotary embeddings read and write queries and keys, and their gradients.
MemoryBytes rotary_elements(const Attention& a) {
  const double width = a.heads * a.qk_head_dim + a.kv_heads * a.qk_head_dim;
  return {2 * width, 2 * width};
}

/// silu(gate) x up: two read, one written; backward three read, two written. Without a gate one and one; two and one.
MemoryBytes activation_elements(double width, bool gated) {
  return gated ? MemoryBytes{3 * width, 5 * width} : MemoryBytes{2 * width, 3 * width};
}

/// Score matrices of eager attention: written by one product, read and written by the softmax, read by the next.
MemoryBytes score_bytes(const Plan& plan, const Attention& a) {
  const double scores = a.heads * plan.seq;  // a token
  const double masks = plan.dropout ? kDropoutBytes : 0;
  return {scores * (kScoreForwardBytes + masks), scores * (kScoreBackwardBytes + masks)};
}

/// A token-expert pair is copied into its expert's order and, with its weight, back; both again backward.
MemoryBytes routing_elements(const Plan& plan, const Architecture& a, const Ffn& ffn) {
  const double width = a.moe_latent > 0 ? a.moe_latent : a.hidden;
  const double copies = plan.ep > 1 ? 4 : 2;  // sorted again on arrival
  return {ffn.experts_per_token * width * 2 * copies, ffn.experts_per_token * width * 2 * copies};
}

/// Forward and again backward.
MemoryBytes expert_bias_bytes(const Architecture& a, const Ffn& ffn) {
  if (!a.expert_bias) return {};
  const double outputs = ffn.experts_per_token * ((ffn.gated ? 2 : 1) * ffn.expert_width + a.hidden);
  return {kExpertBiasBytes * outputs, kExpertBiasBytes * outputs};
}

/// 8- and 4-bit products: inputs and gradients are written once more, as they are and transposed.
MemoryBytes cast_bytes(const Plan& plan, const LayerKind& kind, double share) {
  const double each = 2 * (plan.kernels == Kernels::fused ? kCastBytes : kEagerCastBytes);
  double inputs = 0, outputs = 0;
  for (const Matrix& matrix : kind.matrices) {
    if (!matrix.linear || matrix.part == Part::router) continue;
    const double pairs = matrix.shard == Shard::expert ? kind.ffn.experts_per_token / kind.ffn.experts : 1;
    inputs += pairs * matrix.copies * matrix.cols;
    outputs += pairs * matrix.copies * matrix.rows;
  }
  return {each * share * inputs, each * share * outputs};
}

MemoryBytes token_bytes(const Plan& plan, const LayerKind& kind) {
  const Architecture& a = plan.subject->architecture;
  const double e = element_bytes(plan), cut = 1 / plan.tp, whole = plan.sp ? cut : 1;
  MemoryBytes fused = (e * whole) * stream_elements(kind, a.hidden, composed_norms(plan));
  MemoryBytes other;
  if (kind.mixer == Mixer::full || kind.mixer == Mixer::sliding) {
    fused = fused + (e * cut) * rotary_elements(kind.attention);
    if (plan.attention == AttentionKernel::eager) other = other + cut * score_bytes(plan, kind.attention);
  }
  if (kind.ffn.kind == FfnKind::dense) fused = fused + (e * cut) * activation_elements(kind.ffn.width, kind.ffn.gated);
  if (kind.ffn.kind == FfnKind::moe) {
    const double width = kind.ffn.expert_width * kind.ffn.experts_per_token + kind.ffn.shared_width;
    fused = fused + (e * cut) * activation_elements(width, kind.ffn.gated);
    other = other + (e * cut) * routing_elements(plan, a, kind.ffn);
    other = other + cut * expert_bias_bytes(a, kind.ffn);
  }
  if (kind.mixer == Mixer::linear || kind.mixer == Mixer::state_space) {
    double width = 0;
    for (const Matrix& matrix : kind.matrices)
      width += matrix.part == Part::linear_mixer && matrix.linear ? matrix.rows : 0;
    other = other + MemoryBytes{kMixerTraffic * width * cut, 2 * kMixerTraffic * width * cut};
  }
  if (casts_products(plan)) other = other + cast_bytes(plan, kind, cut);
  return passes(plan) * fused + other;
}

}  // namespace

MemoryBytes layer_bytes(const Plan& plan, const LayerKind& kind) {
  return plan.tokens_per_micro_batch() * token_bytes(plan, kind);
}

double gradient_bytes(const Plan& plan, const LayerKind& kind) {
  if (plan.method != Method::full || !(plan.micro_batches() > 1)) return 0;
  const double kept = plan.grad_dtype == GradDtype::fp32 ? 4 : 2;
  const bool fused = plan.library == Library::megatron && plan.framework == Framework::megatron;  // into the product
  const double each = 2 * kept + (fused ? 0 : 2 * element_bytes(plan));
  const double experts = kind.expert_parameters();
  return each * ((kind.parameters() - experts) / plan.tp + experts / (plan.etp * plan.ep));
}

MemoryBytes loss_bytes(const Plan& plan) {
  const bool whole = plan.loss == Loss::full && plan.kernels == Kernels::eager && !plan.compile;
  double logits = 0;
  for (const Matrix& matrix : plan.subject->head) logits += matrix.part == Part::head ? matrix.rows : 0;
  logits *= plan.tokens_per_micro_batch() / plan.tp;
  // The head's product writes them; the loss reads them and writes their gradient. Eager losses go through fp32 copies.
  return whole ? MemoryBytes{16 * logits, 14 * logits} : MemoryBytes{4 * logits, 4 * logits};
}

}  // namespace vram
