#include "engine/serving/roofline.h"

#include <algorithm>
#include <cmath>

#include "engine/formats.h"
#include "engine/serving/weights.h"

namespace vram {
namespace {

// Products of many tokens reach 1 / (1 + c (T / W)^0.75 (1 + h0 / hidden)) of a peak of T TFLOPS on a board of W watts:
// the more FLOPs a chip can do a joule it is given, the less it can keep that up, and the narrower the model, the more
// goes into what is no product (norms, activations, quantising). Fitted on TensorRT-LLM's published throughput
// (docs/source/performance/perf-overview.md of 1.0), inputs of 2048 tokens and more on one GPU: 2.8 TFLOPS a watt
// (H200, FP8) to 9 (B200, FP4).
constexpr double kPowerLoss = 0.28, kNarrow = 2048;
constexpr double kUsualTflopsAWatt = 1.4;  // H100, BF16: where the board's power is not known
// Experts' products are many small ones, and the fullest expert is waited for.
constexpr double kExpertProducts = 0.5;

// llama.cpp turns quantised weights into products' operands as it goes: 0.69 and 0.72 of the prompt speed in F16 with
// Q8_0 and Q4_0 (7B on an RTX 4090, llama.cpp#4766).
constexpr double kDequantised = 0.7;

// All-reduce of a few kilobytes: one kernel over NVLink, several steps over PCIe or a network.
constexpr double kReduceOverLink = 12e-6, kReduceOverPcie = 40e-6, kReduceOverNetwork = 100e-6;

/// TFLOPS at which products of this weight format run.
double peak(const Plan& plan) {
  if (plan.gpu_tflops > 0) return plan.gpu_tflops;
  const Accelerator& gpu = *plan.accelerator;
  const std::string_view compute = weights_format(plan).compute;
  if (compute == "int8") return gpu.int8_tops > 0 ? gpu.int8_tops : peak_tflops(gpu, "bf16");
  return peak_tflops(gpu, compute);
}

double product_share(const Plan& plan, double peak_tflops) {
  const Architecture& a = plan.subject->architecture;
  const double width = a.experts > 0 && a.expert_ffn > 0 ? std::min(a.hidden, a.expert_ffn) : a.hidden;
  const double a_watt = plan.watts > 0 ? peak_tflops / plan.watts : kUsualTflopsAWatt;
  const double root = std::sqrt(a_watt);  // exact everywhere, which pow is not
  const double lost = kPowerLoss * root * std::sqrt(root) * (1 + (width > 0 ? kNarrow / width : 0));
  return (a.experts > 0 ? kExpertProducts : 1) / (1 + lost);
}

}  // namespace

// Decoding one stream, dense models on one GPU: 0.75 to 0.90 (16 bit; L4, RTX 4090, RTX 5090), 0.70 to 0.84 (8 bit; L4,
// RTX 4090), 0.57 to 0.72 (4 bit; L4, RTX 4090) of bandwidth.
double bandwidth_share(double bits) { return bits >= 16 ? 0.85 : bits >= 8 ? 0.76 : 0.62; }

Roofline roofline(const Plan& plan, const Replica& replica) {
  Roofline result;
  const double tflops = peak(plan);
  result.flops = tflops * 1e12 * product_share(plan, tflops);
  if (plan.engine == Engine::llamacpp && weights_format(plan).bits < 16) result.flops *= kDequantised;
  result.weight_bytes = plan.gpu_bw * 1e9 * bandwidth_share(weights_format(plan).bits);
  const bool nodes = replica.tp > plan.node;
  result.link_bytes = (nodes && plan.net_bw > 0 ? plan.net_bw : plan.link_bw) * 1e9;
  result.reduce_seconds = nodes                            ? kReduceOverNetwork
                          : plan.accelerator->link_is_pcie ? kReduceOverPcie
                                                           : kReduceOverLink;
  return result;
}

}  // namespace vram
