#include "engine/serving/roofline.h"

#include <algorithm>
#include <cmath>

#include "engine/formats.h"
#include "engine/hardware/generation.h"
#include "engine/serving/vllm_run.h"
#include "engine/serving/weights.h"

namespace vram {
namespace {

// Products of many tokens reach 1 / (1 + c (T / W)^0.75) of a peak of T TFLOPS on a board of W watts: the more FLOPs a
// chip can do a joule it is given, the less it can keep that up. Of experts c grows by 1 + w0 / width: the narrower
// they are, the more goes into what is no product. Fitted on TensorRT-LLM's published throughput
// (docs/source/performance/perf-overview.md of 1.0), inputs of 2048 tokens and more on one GPU: 2.8 TFLOPS a watt
// (H200, FP8) to 9 (B200, FP4).
constexpr double kPowerLoss = 0.25, kNarrow = 2048;
constexpr double kUsualTflopsAWatt = 1.4;  // H100, BF16: where the board's power is not known
// Experts' products are many small ones, and the fullest expert is waited for.
constexpr double kExpertProducts = 0.47;

// llama.cpp's products by backend, and what is left of them where quantised weights are turned into operands on the
// way: CUDA 0.69 and 0.72 with Q8_0 and Q4_0 (7B on an RTX 4090, llama.cpp#4766); Metal 0.88 to 0.97 (six chips,
// llama.cpp#4167); ROCm in all (two cards, 2024).
struct LlamacppProducts {
  double share, dequantised;
};
LlamacppProducts llamacpp_products(const Plan& plan) {
  const std::string_view vendor = plan.accelerator->vendor;
  if (vendor == "Apple") return {0.83, 0.9};
  return vendor == "AMD" ? LlamacppProducts{0.85, 0.7} : LlamacppProducts{1, 0.7};
}

// Elsewhere 0.7 of the products are left of weights in integers of 4 bits: 3.3 s for 16,000 tokens of Qwen3-14B in AWQ
// on an A100 (vllm#20469), and 78 requests of Qwen2.5-7B in GPTQ on an L4.
constexpr double kTurnedIntoOperands = 0.7;
bool turned_into_operands(const Format& format) {
  return format.compute == "fp16" && format.blocks_only && format.bits < 5;
}

// Of a layer, in seconds. vllm and sglang replay CUDA graphs: 6 ms a step beyond the bytes read of 28 to 36 layers (L4,
// RTX 5090, RTX 4090); routing from DeepSeek-R1 in FP4 on 4 B200, 8.5 ms a step over 61 layers, 7 of them beyond the
// bytes. llama.cpp on CUDA: 33 (RTX 6000 Ada, 2026) to 99 us (RTX 4090, before graphs), 12 more with experts
// (gpt-oss-20b); on Metal 125 to 155 us on every chip from M1 Max to M3 Ultra; on ROCm 147 to 187.
// Prompts are launched by the host kernel by kernel: 0.5 to 0.7 ms a layer in vllm's nightly benchmarks of 2024 (first
// tokens of 8B and 14B on an H200), less since it compiles; with experts 1.2 (MiniMax-M2.5 on 4 B200, vllm) to 1.9
// (DeepSeek-R1 in FP4 on 4 B200, sglang).
// sglang's first releases with DeepSeek-V3 take 33, 39 and 42 ms a step for 1, 8 and 32 requests on 8 H200 (0.4.1), 18
// to 26 more than that.
constexpr LayerSeconds kReplayed{20e-6, 65e-6, 300e-6, 1.2e-3}, kCompiled{20e-6, 65e-6, 100e-6},
    kEarly{20e-6, 400e-6, 300e-6, 1.2e-3};
constexpr double kEarlyBefore = 4005;  // 0.4.5
// Without graphs (--enforce-eager) every step is: 0.52 ms a layer of Qwen3-14B in AWQ on an A100 (vllm#20469), 0.80 of
// Llama-3.1-8B in the cloud, and what prompts took before models were compiled.
constexpr LayerSeconds kEager{20e-6, 65e-6, 600e-6, 1.2e-3};
// llama.cpp replays graphs from compute capability 8.0 on: 130 us on a V100 (Pythia 2.8B in its nightly tests).
constexpr LayerSeconds kLlamacppCuda{45e-6, 15e-6}, kLlamacppLaunched{130e-6, 15e-6}, kLlamacppOther{150e-6, 15e-6};

// Llama-3.3-70B in FP4 on 2, 4 and 8 RTX PRO 6000 as stages is 1.1, 1.4 and 1.8 times as far from its rooflines as on
// one (TensorRT-LLM's overview): a time that stages do not divide.
constexpr double kStageSeconds = 3e-3;

// First tokens of one stream beyond its prompt: 10 ms (NIM, two H100 and two H200).
constexpr double kServerSeconds = 10e-3;

// llama.cpp's kernels of one token read what is stored as it is, in any type: 0.93 of bandwidth with F16, Q8_0, Q4_K_M
// and Q4_0 alike on Max chips and an RTX 6000 Ada (0.75 to 0.83 on two joined dies, not told apart here).
constexpr double kLlamacppReads = 0.93;

// All-reduce of a few kilobytes: one kernel over NVLink; a ring of 2 (n - 1) steps over PCIe; several over a network.
constexpr double kReduceOverLink = 12e-6, kStepOverPcie = 20e-6, kReduceOverNetwork = 100e-6;

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
  const double width = a.experts > 0 && a.expert_ffn > 0 ? std::min(a.hidden, a.expert_ffn) : 0;
  const double a_watt = plan.watts > 0 ? peak_tflops / plan.watts : kUsualTflopsAWatt;
  const double root = std::sqrt(a_watt);  // exact everywhere, which pow is not
  const double lost = kPowerLoss * root * std::sqrt(root) * (1 + (width > 0 ? kNarrow / width : 0));
  return (a.experts > 0 ? kExpertProducts : 1) / (1 + lost);
}

}  // namespace

// Decoding one stream, dense models on one GPU: 0.75 to 0.90 (16 bit; L4, RTX 4090, RTX 5090), 0.70 to 0.84 (8 bit; L4,
// RTX 4090), 0.57 to 0.72 (4 bit; L4, RTX 4090) of bandwidth.
double bandwidth_share(const Plan& plan, double bits) {
  if (plan.engine == Engine::llamacpp) return kLlamacppReads;
  return bits >= 16 ? 0.85 : bits >= 8 ? 0.76 : 0.62;
}

double stage_seconds(const Plan& plan, const Replica& replica) {
  return plan.engine == Engine::llamacpp || replica.pp <= 1 ? 0 : kStageSeconds * replica.pp;
}

double server_seconds(const Plan& plan) { return plan.engine == Engine::llamacpp ? 0 : kServerSeconds; }

LayerSeconds layer_seconds(const Plan& plan) {
  if (plan.engine == Engine::trtllm) return kCompiled;
  if (plan.engine == Engine::sglang && release_number(plan) < kEarlyBefore) return kEarly;
  if (plan.engine != Engine::llamacpp) return plan.graphs ? kReplayed : kEager;
  if (plan.accelerator->vendor != "NVIDIA") return kLlamacppOther;
  return precedes_ampere(*plan.accelerator) ? kLlamacppLaunched : kLlamacppCuda;
}

Roofline roofline(const Plan& plan, const Replica& replica) {
  Roofline result;
  const double tflops = peak(plan);
  result.flops = tflops * 1e12 * product_share(plan, tflops);
  if (plan.engine == Engine::llamacpp) {
    const LlamacppProducts products = llamacpp_products(plan);
    result.flops *= products.share * (weights_format(plan).bits < 16 ? products.dequantised : 1);
  } else if (turned_into_operands(weights_format(plan))) {
    result.flops *= kTurnedIntoOperands;
  }
  result.weight_bytes = plan.gpu_bw * 1e9 * bandwidth_share(plan, weights_format(plan).bits);
  const bool nodes = replica.tp > plan.node;
  result.link_bytes = (nodes && plan.net_bw > 0 ? plan.net_bw : plan.link_bw) * 1e9;
  result.reduce_seconds = nodes                            ? kReduceOverNetwork
                          : plan.accelerator->link_is_pcie ? kStepOverPcie * 2 * std::max(1.0, replica.tp - 1)
                                                           : kReduceOverLink;
  return result;
}

}  // namespace vram
