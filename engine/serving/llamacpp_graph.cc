#include "engine/serving/llamacpp_graph.h"

#include <algorithm>
#include <cmath>

#include "engine/formats.h"
#include "engine/serving/llamacpp_attention.h"
#include "engine/serving/llamacpp_cells.h"
#include "engine/serving/weights.h"

namespace vram {
namespace {

using Tensor = GgmlGraph::Tensor;
constexpr Tensor kNone = GgmlGraph::kNone;
constexpr double kOffloaded = 32;  // tokens of a batch that a GPU takes over, with host weights copied to it
constexpr double kWide = 4, kHalf = 2, kIndex = 8;  // bytes of an element

/// A mask and the rows of a cache that are written, of full or of window layers.
struct CacheInputs {
  double cells = 0;
  Tensor mask = kNone, cast = kNone, keys = kNone, values = kNone;
};

/// A micro-batch's graph, in the order in which llama.cpp puts it together (src/llama-graph.cpp, src/models).
class Builder {
 public:
  Builder(const Plan& plan, const LlamacppBuild& build, int devices, int copies)
      : plan_(plan), a_(plan.subject->architecture), build_(build), graph_(devices, copies), tokens_(plan.ubatch) {}

  std::vector<GgmlBuffer> run(const std::vector<int>& device_of, int head_device) {
    enter();
    for (size_t i = 0; i < device_of.size(); ++i) {
      if (device_of[i] < 0) continue;
      left_ = device_;
      device_ = device_of[i];
      enters_ = !build_.values_first && left_ != graph_.host() && left_ != device_;  // its norm is the last GPU's work
      last_ = i + 1 == device_of.size();
      index_ = i;
      on_host_ = i < host_stage(plan_).count;
      layer(plan_.subject->layer(i), i);
    }
    device_ = head_device;
    leave();
    return graph_.reserve();
  }

 private:
  Tensor wide(double width, GgmlGraph::Sources sources) { return graph_.op(device_, tokens_ * width * kWide, sources); }
  /// Flash attention's result, with room behind it for what its cache is read as.
  Tensor flashed(const Attention& at, double width, const CacheInputs& cache, GgmlGraph::Sources sources) {
    const double converted = llamacpp_converted_bytes(plan_, build_, at, cache.cells);
    return graph_.op(device_, tokens_ * width * kWide + converted, sources);
  }
  Tensor over(double width, GgmlGraph::Sources sources) {
    return graph_.in_place(device_, tokens_ * width * kWide, sources);
  }

  void enter() {
    positions_ = graph_.input(tokens_ * kWide);
    const Tensor ids = graph_.input(tokens_ * kWide);
    if (build_.embeds_twice) graph_.input(tokens_ * a_.hidden * kWide);
    full_ = cache_inputs(llamacpp_cells(plan_));
    const double window = llamacpp_window_cells(plan_);
    if (window > 0) window_ = cache_inputs(window);
    outputs_ = graph_.input(tokens_ * kWide);
    device_ = graph_.host();
    stream_ = wide(a_.hidden, {ids});
  }

  CacheInputs cache_inputs(double cells) {
    CacheInputs in;
    in.cells = cells;
    const bool half = plan_.flash && build_.masks_in_half;
    if (build_.sets_rows) in.keys = graph_.input(tokens_ * kIndex);
    if (build_.sets_rows && a_.kv_lora_rank <= 0)
      in.values = graph_.input(tokens_ * kIndex * (plan_.flash ? 1 : most_values()));
    in.mask = graph_.input(tokens_ * cells * (half ? kHalf : kWide));
    return in;
  }

  double most_values() const {
    double most = 0;
    for (const LayerKind& kind : plan_.subject->kinds)
      most = std::max(most, kind.attention.kv_heads * kind.attention.v_head_dim);
    return most;
  }

  Tensor scaled_stream(Tensor from) { return a_.norm == "rmsnorm" ? over(a_.hidden, {from}) : wide(a_.hidden, {from}); }
  Tensor normed(Tensor from) { return over(a_.hidden, {scaled_stream(from)}); }

  void layer(const LayerKind& kind, size_t index) {
    const int own = device_;
    const Tensor before = stream_;
    if (enters_) device_ = left_;
    const Tensor scaled = scaled_stream(before);
    device_ = own;
    const Tensor input = over(a_.hidden, {scaled});
    CacheInputs& cache = kind.mixer == Mixer::sliding && window_.cells > 0 ? window_ : full_;
    graph_.set_part(GgmlPart::attention);
    Tensor attended =
        kind.attention.kv_lora_rank > 0 ? latent(kind.attention, input, cache) : attention(kind, input, cache);
    graph_.set_part(GgmlPart::hidden);
    Tensor residual = before;
    if (last_) {
      tokens_ = outputs();
      attended = wide(a_.hidden, {attended, outputs_});
      residual = wide(a_.hidden, {residual, outputs_});
    }
    const Tensor middle = over(a_.hidden, {attended, residual});
    const Tensor mlp_input = normed(middle);
    graph_.set_part(GgmlPart::mlp);
    const Tensor worked = mlp(kind.ffn, mlp_input, index);
    graph_.set_part(GgmlPart::hidden);
    stream_ = over(a_.hidden, {worked, middle});
    device_ = own;
  }

  double outputs() const {
    return build_.logits_of_slots ? std::max(1.0, plan_.max_seqs > 0 ? plan_.concurrency : 1.0) : plan_.ubatch;
  }

  /// Weights of a layer in host memory, or of the head.
  Tensor of_host(Part part) {
    if (!on_host_) return kNone;
    const double bytes = tensor_bytes(plan_, index_, part);
    return bytes > 0 ? graph_.host_weights(std::ceil(bytes)) : kNone;
  }

  Tensor cache_of_host(double elements, const Format& type, const CacheInputs& cache) {
    return on_host_ ? graph_.host_cache(std::ceil(elements * cache.cells * type.bits / 8)) : kNone;
  }

  struct Projected {
    Tensor q, k, v;
  };

  Tensor turned(const LayerKind& kind, Tensor projected, double width) {
    Tensor result = projected;
    const double rows = tokens_ * width * kWide;
    if (kind.qk_norm) result = graph_.in_place(device_, rows, {graph_.in_place(device_, rows, {result})});
    return a_.position == "rope" ? graph_.in_place(device_, rows, {result, positions_}) : result;
  }

  Projected project(const LayerKind& kind, Tensor input) {
    const Attention& at = kind.attention;
    const double q = at.heads * at.qk_head_dim, k = at.kv_heads * at.qk_head_dim, v = at.kv_heads * at.v_head_dim;
    Projected result{};
    if (fuses_qkv(a_)) {
      const Tensor all = wide(q + k + v, {input});
      result.q = turned(kind, graph_.view(all), q);
      result.k = turned(kind, graph_.view(all), k);
      result.v = graph_.view(all);
      return result;
    }
    result.q = turned(kind, graph_.view(wide(q, {of_host(Part::q), input})), q);
    if (at.reuses_kv) return {result.q, kNone, kNone};
    const auto keys = [&] { return turned(kind, graph_.view(wide(k, {of_host(Part::k), input})), k); };
    const auto values = [&] { return graph_.view(wide(v, {of_host(Part::v), input})); };
    if (build_.values_first) {
      result.v = values();
      result.k = keys();
    } else {
      result.k = keys();
      result.v = values();
    }
    return result;
  }

  Tensor attention(const LayerKind& kind, Tensor input, CacheInputs& cache) {
    const Attention& at = kind.attention;
    const Projected p = project(kind, input);
    const int kept = on_host_ ? graph_.host() : device_;
    if (p.k != kNone) graph_.sink(kept, {p.k, cache.keys});
    if (p.v != kNone) graph_.sink(kept, {p.v, cache.values});
    const double width = at.heads * at.v_head_dim;
    const Tensor q = graph_.view(p.q);
    const Tensor keys = cache_of_host(at.kv_heads * at.qk_head_dim, kv_format(plan_), cache);
    const Tensor values = cache_of_host(at.kv_heads * at.v_head_dim, kv_values_format(plan_), cache);
    const Tensor seen = plan_.flash ? graph_.view(flashed(at, width, cache, {q, keys, values, mask(cache)}))
                                    : weighed(at, q, keys, values, cache, width);
    return wide(a_.hidden, {of_host(Part::o), seen});
  }

  Tensor weighed(const Attention& at, Tensor q, Tensor keys, Tensor values, const CacheInputs& cache, double width) {
    const double bytes = tokens_ * at.heads * cache.cells * kWide;
    Tensor scores = graph_.op(device_, bytes, {keys, q});
    scores = graph_.in_place(device_, bytes, {scores, cache.mask});
    return wide(width, {graph_.view(wide(width, {values, scores}))});
  }

  Tensor mask(CacheInputs& cache) {
    if (build_.masks_in_half) return cache.mask;
    if (cache.cast == kNone) cache.cast = graph_.op(device_, tokens_ * cache.cells * kHalf, {cache.mask});
    return cache.cast;
  }

  Tensor latent(const Attention& at, Tensor input, CacheInputs& cache) {
    const double c = at.kv_lora_rank, r = at.rope_head_dim, n = at.heads;
    Tensor q = input;
    if (at.q_lora_rank > 0) {
      q = wide(at.q_lora_rank, {input});
      q = over(at.q_lora_rank, {over(at.q_lora_rank, {q})});
    }
    q = wide(n * (at.nope_head_dim + r), {q});
    const Tensor q_turned = wide(n * r, {graph_.view(q), positions_});
    const Tensor absorbed = wide(n * c, {graph_.view(q)});
    const Tensor query = wide(n * (c + r), {q_turned, graph_.view(absorbed)});
    const Tensor compressed = wide(c + r, {input});
    const Tensor k_turned = wide(r, {graph_.view(compressed), positions_});
    const Tensor kept = over(c, {wide(c, {graph_.view(compressed)})});
    const Tensor key = wide(c + r, {k_turned, graph_.view(kept)});
    graph_.sink(device_, {key, cache.keys});
    graph_.sink(device_, {kept});
    Tensor seen = kNone;
    if (plan_.flash) {
      seen = flashed(at, n * c, cache, {graph_.view(query), mask(cache)});
    } else {
      const double bytes = tokens_ * n * cache.cells * kWide;
      const Tensor scores = graph_.op(device_, bytes, {graph_.view(query)});
      seen = wide(n * c, {graph_.in_place(device_, bytes, {scores, cache.mask})});
    }
    const Tensor values = wide(n * at.v_head_dim, {graph_.view(seen)});
    return wide(a_.hidden, {wide(n * at.v_head_dim, {graph_.view(values)})});
  }

  Tensor mlp(const Ffn& ffn, Tensor input, size_t index) {
    return ffn.kind == FfnKind::moe ? mixture(ffn, input, index) : dense(ffn.width, ffn.gated, input);
  }

  Tensor multiplied(double width, bool gated, Tensor input) {
    if (!gated) return over(width, {wide(width, {of_host(Part::up), input})});
    if (fuses_gate_up(a_)) return wide(width, {wide(2 * width, {input})});
    const Tensor gate = wide(width, {of_host(Part::gate), input});
    const Tensor up = wide(width, {of_host(Part::up), input});
    return build_.fuses_gate ? wide(width, {gate, up}) : over(width, {over(width, {gate}), up});
  }

  Tensor dense(double width, bool gated, Tensor input) {
    const Tensor product = multiplied(width, gated, input);
    return wide(a_.hidden, {of_host(Part::down), product});
  }

  struct Routed {
    Tensor chosen, shares;
  };

  Routed route(const Ffn& ffn, Tensor input) {
    const double k = ffn.experts_per_token;
    const Tensor logits = wide(ffn.experts, {input});
    const Tensor odds = over(ffn.experts, {logits});
    const Tensor order = wide(ffn.experts, {odds});
    const Tensor chosen = graph_.view(order);
    const Tensor shares = wide(k, {graph_.view(odds), chosen});
    const Tensor sum = wide(1, {shares});
    return {chosen, over(k, {shares, sum})};
  }

  /// Experts in host memory are worked out by the first GPU (ggml-cuda.cu, ggml_backend_cuda_device_offload_op), and
  /// what follows without weights of its own stays there (ggml_backend_sched_split_graph, pass 2).
  Tensor mixture(const Ffn& ffn, Tensor input, size_t index) {
    const double k = ffn.experts_per_token, outer = k * a_.hidden;
    const Routed routed = route(ffn, input);
    const int own = device_;
    const HostExperts host = host_experts(index);
    if (host.on) device_ = 0;
    const Tensor product = routed_product(k * ffn.expert_width, input, routed, host);
    Tensor experts = biased(outer, wide(outer, {host.down, product, routed.chosen}), host, routed);
    experts = over(outer, {experts, routed.shares});
    if (ffn.shared_width <= 0) return summed(experts, k);
    if (build_.values_first) {
      const Tensor sum = summed(experts, k);
      device_ = own;
      return over(a_.hidden, {sum, dense(ffn.shared_width, ffn.gated, input)});
    }
    device_ = own;
    const Tensor shared = multiplied(ffn.shared_width, ffn.gated, input);
    const Tensor sum = summed(experts, k);
    return over(a_.hidden, {sum, wide(a_.hidden, {shared})});
  }

  struct HostExperts {
    bool on = false;
    Tensor gate = kNone, up = kNone, down = kNone;
  };

  Tensor routed_product(double width, Tensor input, const Routed& routed, const HostExperts& host) {
    const Tensor rows = graph_.view(input);
    const Tensor gate = biased(width, wide(width, {host.gate, rows, routed.chosen}), host, routed);
    const Tensor up = biased(width, wide(width, {host.up, rows, routed.chosen}), host, routed);
    return wide(width, {gate, up});
  }

  Tensor biased(double width, Tensor from, const HostExperts& host, const Routed& routed) {
    if (!a_.expert_bias) return from;
    const double rows = width / std::max(1.0, a_.experts_per_token) * a_.experts;
    return over(width, {from, host.on ? graph_.host_weights(rows * kWide) : kNone, routed.chosen});
  }

  Tensor summed(Tensor experts, double count) {
    Tensor sum = wide(a_.hidden, {graph_.view(experts), graph_.view(experts)});
    for (double i = 2; i < count; ++i) sum = over(a_.hidden, {sum, graph_.view(experts)});
    return sum;
  }

  HostExperts host_experts(size_t index) {
    HostExperts host;
    if (!build_.copies_weights || plan_.ubatch < kOffloaded || before_n_cpu_moe(plan_, index, 1) == 0) return host;
    const ExpertBytes bytes = expert_bytes(plan_, index);
    host.on = true;
    host.gate = graph_.host_weights(std::ceil(bytes.gate));
    host.up = graph_.host_weights(std::ceil(bytes.up));
    host.down = graph_.host_weights(std::ceil(bytes.down));
    return host;
  }

  void leave() {
    const Tensor last = normed(stream_);
    if (build_.keeps_hidden) graph_.keep(last);
    graph_.set_part(GgmlPart::logits);
    const Tensor head = host_stage(plan_).has_head ? graph_.host_weights(std::ceil(head_bytes(plan_))) : kNone;
    graph_.keep(wide(a_.vocab, {head, last}));
  }

  const Plan& plan_;
  const Architecture& a_;
  const LlamacppBuild& build_;
  GgmlGraph graph_;
  double tokens_;
  int device_ = 0;
  int left_ = 0;
  size_t index_ = 0;
  bool last_ = false, enters_ = false, on_host_ = false;
  Tensor positions_ = kNone, outputs_ = kNone, stream_ = kNone;
  CacheInputs full_, window_;
};

bool is_attention(const LayerKind& kind) {
  const bool mixes = kind.mixer == Mixer::full || kind.mixer == Mixer::sliding;
  return mixes && kind.attention.heads > 0 && kind.ffn.kind != FfnKind::none;
}

/// Builds whose graph is the one below: checked with what b6700 and b10256 reserve on a device that computes nothing,
/// and with logs. From b7300 on till masks are made in 16 bit logs with flash attention say less than it, and then, of
/// GPUs that take turns, more. Metal works a graph out in an order of its own (ggml-metal-common.cpp,
/// ggml_graph_optimize).
bool is_checked(const Plan& plan, const LlamacppBuild& build, int copies) {
  if (build.one_buffer || build.inputs_apart || !build.copies_weights) return false;
  if (plan.flash && plan.accelerator && plan.accelerator->vendor == "Apple") return false;
  if (copies > 1 && build.masks_in_half && !build.reads_copy) return false;
  return !plan.flash || build.masks_in_half || !build.values_first;
}

/// Layers in host memory, of which large batches are worked out on the first GPU, with weights and caches copied to it.
bool leaves_known_layers(const Plan& plan, const LlamacppBuild& build) {
  const Architecture& a = plan.subject->architecture;
  const bool takes_over = !plan.accelerator || plan.accelerator->vendor != "Apple";  // Metal leaves them to the CPU
  return takes_over && plan.gpu_layers >= 1 && plan.ubatch >= kOffloaded && build.copies_weights && !fuses_qkv(a) &&
         !fuses_gate_up(a) && a.kv_lora_rank <= 0 && a.experts <= 0;
}

/// The graphs that are written down: attention, or latent attention since it is absorbed, then an MLP or experts, each
/// behind its norm, all on GPUs. Older builds made copies of what query, key and value in one tensor were cut to.
bool knows(const Plan& plan, const LlamacppBuild& build, int copies) {
  const Architecture& a = plan.subject->architecture;
  for (const LayerKind& kind : plan.subject->kinds) {
    if (!is_attention(kind)) return false;
  }
  const bool plain = !a.parallel_residual && !a.output_gate && norms_first(a) && (!fuses_qkv(a) || build.sets_rows);
  const bool extended = a.per_layer_input > 0 || a.altup_inputs > 0 || a.index_heads > 0 || a.moe_latent > 0;
  const bool latents = a.kv_lora_rank <= 0 || build.absorbs_latents;
  return plan.subject->has_shape && is_checked(plan, build, copies) && latents && plain && !extended &&
         (host_stage(plan).count == 0 || leaves_known_layers(plan, build));
}

/// Layers alike one after the other need the same: the first and the last of a GPU stand for all.
constexpr size_t kEnough = 8;

}  // namespace

std::vector<GgmlBuffer> llamacpp_buffers(const Plan& plan, const LlamacppBuild& build, const Replica& replica,
                                         int copies) {
  if (!knows(plan, build, copies)) return {};
  const std::vector<ServingStage> stages = serving_stages(plan, replica);
  std::vector<int> device_of(plan.subject->layers.size(), -1);
  for (size_t i = 0; i < host_stage(plan).count; ++i) device_of[i] = i < kEnough ? 0 : -1;
  for (size_t s = 0; s < stages.size(); ++s) {
    for (size_t i = 0; i < stages[s].count; ++i) {
      const bool skipped = i >= kEnough && i + kEnough < stages[s].count;
      if (!skipped) device_of[stages[s].first + i] = static_cast<int>(s);
    }
  }
  const int gpus = static_cast<int>(stages.size());
  return Builder(plan, build, gpus + 1, copies).run(device_of, gpus - 1);
}

}  // namespace vram
