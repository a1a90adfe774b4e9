#include "engine/serving/latency.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "engine/compute/compute.h"
#include "engine/formats.h"
#include "engine/serving/kv_cache.h"
#include "engine/serving/weights.h"

namespace vram {
namespace {

// Share of a memory's bandwidth that one stream's decode reaches: 0.75-0.90 (16 bit), 0.70-0.84 (8 bit), 0.57-0.72
// (4 bit) on L4, RTX 4090 and RTX 5090.
double bandwidth_share(double bits) { return bits >= 16 ? 0.80 : bits >= 8 ? 0.72 : 0.62; }

// Time that no bandwidth buys back: all-reduces of a layer, and routing to experts. Fitted on DeepSeek-R1 in FP4 on
// 4 B200: 8.5 ms a step over 61 layers.
constexpr double kAllReduceSecondsALayer = 30e-6, kRoutingSecondsALayer = 65e-6;

/// A measured utilization at a ratio of peak to bandwidth.
struct Point {
  double flops_a_byte, share;
};
// Model FLOPs utilization of prefill falls with the FLOPs a byte that a card can do: 0.91 (H20, 37), 0.84 (RTX 5090,
// 117), 0.90 (RTX 4090, 164), 0.49-0.54 (H200 FP8, 412), 0.48 (H100 FP8, 590), 0.29-0.36 (B200 FP4, 1170).
constexpr Point kPrefill[] = {{200, 0.85}, {400, 0.52}, {600, 0.48}, {1200, 0.33}};

double between_points(double flops_a_byte) {
  if (flops_a_byte <= kPrefill[0].flops_a_byte) return kPrefill[0].share;
  for (size_t i = 1; i < std::size(kPrefill); ++i) {
    const Point a = kPrefill[i - 1], b = kPrefill[i];
    if (flops_a_byte > b.flops_a_byte) continue;
    return a.share + (b.share - a.share) * (flops_a_byte - a.flops_a_byte) / (b.flops_a_byte - a.flops_a_byte);
  }
  return std::end(kPrefill)[-1].share;
}

/// TFLOPS at which products of this weight format run.
double peak(const Plan& plan) {
  if (plan.gpu_tflops > 0) return plan.gpu_tflops;
  const Accelerator& gpu = *plan.accelerator;
  const std::string_view compute = weights_format(plan).compute;
  if (compute == "int8") return gpu.int8_tops > 0 ? gpu.int8_tops : peak_tflops(gpu, "bf16");
  return peak_tflops(gpu, compute);
}

/// TRT-LLM FP8: 0.54 on one H200, 0.46 on two H100 (70B), 0.40 on eight (405B); mixtures of experts 0.16-0.27.
double prefill_share(const Plan& plan, const Replica& replica) {
  const double together = replica.tp >= 8 ? 0.8 : replica.tp >= 2 ? 0.9 : 1;
  const double experts = plan.subject->architecture.experts > 0 ? 0.5 : 1;
  const double flops_a_byte = plan.gpu_bw > 0 ? peak(plan) * 1e3 / plan.gpu_bw : 0;
  return between_points(flops_a_byte) * together * experts;
}

/// A model without a shape: 2 FLOPs a parameter.
double token_flops(const Plan& plan, double context) {
  const Model& model = *plan.subject;
  return model.has_shape ? forward_flops_per_token(model, context) : 2 * model.nominal_parameters;
}

double mixture_layers(const Model& model) {
  double layers = 0;
  for (size_t k = 0; k < model.kinds.size(); ++k) {
    if (model.kinds[k].ffn.kind == FfnKind::moe) layers += model.layers_of_kind(k, 0, model.layers.size());
  }
  return layers;
}

double latency_floor(const Plan& plan, const Replica& replica) {
  const Model& model = *plan.subject;
  const double reduces = replica.tp > 1 ? static_cast<double>(model.layers.size()) * kAllReduceSecondsALayer : 0;
  return reduces + mixture_layers(model) * kRoutingSecondsALayer;
}

double prefill_seconds(const Plan& plan, const Replica& replica, double read_seconds) {
  const double cached = std::min(plan.prefix, plan.prompt) * plan.prefix_hit, tokens = plan.prompt - cached;
  const double rate = peak(plan) * 1e12 * replica.tp * prefill_share(plan, replica);
  if (rate <= 0 || tokens <= 0) return 0;
  const double compute = tokens * token_flops(plan, cached + tokens / 2) / rate;
  return std::max(compute, read_seconds) + latency_floor(plan, replica);
}

}  // namespace

Latency latency(const Plan& plan, const Replica& replica, double requests) {
  Latency result;
  const double bandwidth = plan.gpu_bw * 1e9 * bandwidth_share(weights_format(plan).bits);
  if (bandwidth <= 0) return result;
  const double batch = std::max(1.0, requests / (replica.dp * replica.pp));  // in one stage at one time
  const Replica one_stage{replica.tp, 1, replica.dp, replica.ep};
  const std::vector<CacheGroup> groups = cache_groups(plan, one_stage, whole_model(plan));
  const double context = plan.prompt + plan.output / 2;
  const double drafted = 1 + plan.draft_tokens;  // tokens checked at once
  const double read = weight_bytes_read(plan, replica, batch * drafted) + batch * request_bytes(plan, groups, context);
  const double rate = peak(plan) * 1e12 * replica.tp * prefill_share(plan, replica);
  const double compute = rate > 0 ? batch * drafted * token_flops(plan, context) / rate : 0;
  result.compute_bound = compute > read / bandwidth;
  // Added, not overlapped: vllm on an L4 takes 57, 61 and 98 ms a step with 1, 10 and 63 requests of Qwen2.5-7B.
  result.decode_seconds = compute + read / bandwidth + latency_floor(plan, replica);
  result.prefill_seconds = prefill_seconds(plan, replica, weight_bytes_read(plan, replica, plan.prompt) / bandwidth);
  return result;
}

double seconds_per_token(const Plan& plan, const Latency& times) {
  double tokens = 1, accepted = 1;  // 1 + a + a^2 ... + a^k (arXiv 2211.17192, equation 1)
  for (double i = 0; i < plan.draft_tokens; ++i) {
    accepted *= plan.acceptance;
    tokens += accepted;
  }
  return times.decode_seconds / tokens;
}

double requests_at_tpot(const Plan& plan, const Replica& replica, double limit) {
  const auto meets = [&](double requests) {
    return seconds_per_token(plan, latency(plan, replica, requests)) <= plan.tpot;
  };
  double least = 0, most = std::max(1.0, limit);
  while (least < most) {
    const double middle = std::floor((least + most + 1) / 2);
    if (meets(middle)) {
      least = middle;
    } else {
      most = middle - 1;
    }
  }
  return least;
}

double requests_per_second(const Plan& plan, const Latency& times, double requests) {
  const double cycle = plan.output * seconds_per_token(plan, times) + requests * times.prefill_seconds;
  return cycle > 0 ? requests / cycle : 0;
}

}  // namespace vram
