#include "engine/compute/work.h"

#include <algorithm>
#include <cmath>

#include "engine/compute/achieved.h"
#include "engine/compute/cube_root.h"
#include "engine/compute/elementwise.h"
#include "engine/compute/flops.h"
#include "engine/compute/products.h"
#include "engine/compute/recomputed.h"

namespace vram {
namespace {

/// FlashAttention computes scores again backward: five products for two (arXiv 2205.14135, algorithm 4).
constexpr double kFlashBackward = 2.5;
constexpr double kEagerBackward = 2;

struct LayerWork {
  PassSeconds forward, backward;
  double weight_gradients = 0;
};

LayerWork operator*(double times, const LayerWork& a) {
  return {{times * a.forward.matrices, times * a.forward.attention, times * a.forward.memory},
          {times * a.backward.matrices, times * a.backward.attention, times * a.backward.memory},
          times * a.weight_gradients};
}

void add(PassSeconds& to, const PassSeconds& more, double times = 1) {
  to.matrices += times * more.matrices;
  to.attention += times * more.attention;
  to.memory += times * more.memory;
}

double over_bandwidth(double bytes, const Rates& rates) { return rates.memory > 0 ? bytes / rates.memory : 0; }

/// Time of a FLOP of FlashAttention over that of heads 128 wide: heads are padded to a multiple of 32, and a score's
/// exponential takes as long whatever the width (FlashAttention-3, arXiv 2407.08608, section 1).
double flash_slowdown(const Attention& a) {
  const double width = (a.qk_head_dim + a.v_head_dim) / 2, padded = std::ceil(width / 32) * 32;
  return (padded + kSoftmaxWidth) / width * 128 / (128 + kSoftmaxWidth);
}

/// Products of heads that are no multiple of 8 elements wide are not aligned to 16 bytes and miss the tensor cores
/// (NVIDIA, Matrix Multiplication Background, section 2.1).
double attention_seconds(const Plan& plan, const Rates& rates, const LayerKind& kind) {
  const bool flash = plan.attention == AttentionKernel::flash;
  const double flops = layer_attention_flops(*plan.subject, kind, plan.seq, flash ? Causal::half : Causal::full) *
                       plan.tokens_per_micro_batch() / plan.tp;
  const double width = kind.attention.qk_head_dim;
  const bool core = kind.mixer == Mixer::full || kind.mixer == Mixer::sliding;
  if (!core || flops <= 0 || width <= 0) return 0;
  const double slowdown = flash ? flash_slowdown(kind.attention) : 1;
  const double rate = flash                      ? rates.attention
                      : std::fmod(width, 8) == 0 ? rates.matrix16
                                                 : rates.vector * kUnalignedShare;
  return rate > 0 ? flops * slowdown / rate : 0;  // of a chip without a known peak no time is told
}

LayerWork layer_work(const Plan& plan, const Rates& rates, const LayerKind& kind) {
  const ProductSeconds products = layer_products(plan, rates, kind);
  const MemoryBytes bytes = layer_bytes(plan, kind);
  const double attention = attention_seconds(plan, rates, kind);
  const bool flash = plan.attention == AttentionKernel::flash;
  LayerWork work;
  const double gradients = gradient_bytes(plan, kind);
  work.forward = {products.forward, attention, over_bandwidth(bytes.forward, rates)};
  work.backward = {products.input_gradients + products.weight_gradients,
                   attention * (flash ? kFlashBackward : kEagerBackward),
                   over_bandwidth(bytes.backward + gradients, rates)};
  work.weight_gradients = products.weight_gradients;
  return work;
}

LayerWork head_work(const Plan& plan, const Rates& rates) {
  const ProductSeconds products = head_products(plan, rates);
  const MemoryBytes bytes = loss_bytes(plan);
  LayerWork work;
  work.forward = {products.forward, 0, over_bandwidth(bytes.forward, rates)};
  work.backward = {products.input_gradients + products.weight_gradients, 0, over_bandwidth(bytes.backward, rates)};
  work.weight_gradients = products.weight_gradients;
  return work;
}

/// What backward computes again of a layer.
PassSeconds repeated(const Plan& plan, const Rates& rates, const LayerKind& kind, const LayerWork& layer) {
  if (plan.recompute == Recompute::full) return layer.forward;
  if (plan.recompute == Recompute::none) return {};
  if (plan.framework == Framework::fsdp2) return {layer.forward.matrices / 2, 0, layer.forward.memory};
  PassSeconds again{0, recomputes_core_attention(plan) ? layer.forward.attention : 0, 0};
  if (!plan.recompute_modules.empty()) add(again, layer_work(plan, rates, recomputed_modules(plan, kind)).forward);
  return again;
}

double host_seconds(const LayerKind& kind) {
  return kind.ffn.kind == FfnKind::moe ? kExpertHostSeconds : kLayerHostSeconds;
}

void add_layers(const Plan& plan, const Rates& rates, const LayerKind& kind, double layers, double share,
                MicroBatchWork& out) {
  const LayerWork work = layer_work(plan, rates, kind);
  add(out.forward, work.forward, layers);
  add(out.backward, work.backward, layers);
  add(out.repeated, repeated(plan, rates, kind, work), layers * share);
  out.weight_gradients += layers * work.weight_gradients;
  out.host += layers * host_seconds(kind);
}

void add_head(const Plan& plan, const Rates& rates, double copies, MicroBatchWork& out) {
  const LayerWork work = copies * head_work(plan, rates);
  add(out.forward, work.forward);
  add(out.backward, work.backward);
  out.weight_gradients += work.weight_gradients;
  out.head += work.forward.total() + work.backward.total();
}

/// Of a model without a shape: a GPT of as many parameters, whose layers are an 128th of its width (the ratio of GPT-3
/// 175B), 12 h^2 parameters each.
LayerKind nominal_layer(double hidden) {
  LayerKind kind;
  kind.mixer = Mixer::none;
  kind.ffn.kind = FfnKind::dense;
  kind.ffn.width = 4 * hidden;
  kind.matrices = {{"qkv", Part::q, Shard::tensor, 3 * hidden, hidden},
                   {"o_proj", Part::o, Shard::tensor, hidden, hidden},
                   {"up_proj", Part::up, Shard::tensor, 4 * hidden, hidden},
                   {"down_proj", Part::down, Shard::tensor, hidden, 4 * hidden}};
  return kind;
}

}  // namespace

MicroBatchWork micro_batch_work(const Plan& plan, const Rates& rates) {
  const Model& model = *plan.subject;
  MicroBatchWork out;
  const auto count = static_cast<double>(model.layers.size());
  if (!model.has_shape) {
    const double n = model.active_parameters > 0 ? model.active_parameters : model.nominal_parameters;
    const double hidden = cube_root(n * 128 / 12);
    add_layers(plan, rates, nominal_layer(hidden), n / (12 * hidden * hidden) / plan.pp, 1, out);
    return out;
  }
  const bool some = plan.has(Key::recompute_layers) && count > 0;
  const double share = some ? std::min(1.0, plan.recompute_layers / count) : 1;
  for (size_t kind = 0; kind < model.kinds.size(); ++kind) {
    const double layers = model.layers_of_kind(kind, 0, model.layers.size());
    if (layers > 0) add_layers(plan, rates, model.kinds[kind], layers * model.scale() / plan.pp, share, out);
  }
  const bool predicts = plan.library == Library::megatron;
  if (predicts) {
    for (const LayerKind& module : model.mtp) add_layers(plan, rates, module, 1 / plan.pp, 0, out);
  }
  add_head(plan, rates, (predicts ? 1 + static_cast<double>(model.mtp.size()) : 1) / plan.pp, out);
  return out;
}

}  // namespace vram
