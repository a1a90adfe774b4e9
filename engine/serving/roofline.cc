#include "engine/serving/roofline.h"

#include <algorithm>
#include <cmath>

#include "engine/formats.h"
#include "engine/hardware/generation.h"
#include "engine/serving/llamacpp.h"
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

// In vllm and sglang (Triton's fused_moe and its successors) that is a share of the experts' own products, attention
// and projections reach what they do in dense models: fitted with the kernels of mixtures (kernels.cc), on steady loads
// (ML.ENERGY's leaderboard) and on prompts of 2000 to 32,000 tokens (gpustack's performance lab).
constexpr double kFusedExperts = 0.37;

// AMD Instinct in vllm and sglang: 0.35 of those products (FP8 experts on one to four MI300X, vllm#17530 and #17535;
// Llama-3.1-405B on eight) and 0.85 of the bandwidth.
constexpr double kInstinctProducts = 0.35, kInstinctReads = 0.85;

// llama.cpp's products on tensor cores accumulate in 16 bit where that is faster, twice the printed peak on GeForce
// boards, and reach 0.86 / (1 + 0.9 T / W) of T TFLOPS at W watts; 0.7 of that with weights that are turned into 16 bit
// on their way. Integers of 8 bits, which NVIDIA's chips multiply since then, lose less of it: 0.6 / (1 + 0.1 T / W) on
// boards from Ada on, 0.5 elsewhere, and no more than in 16 bit, as far as is known (Hopper). Of either 0.48 with
// experts. Fitted together on llama-bench's prompts: XiongjieDai/GPU-Benchmarks-on-LLM-Inference (eight boards, before
// those integers), micro-batches of 1 to 4096 tokens in ten of its pull requests, and tests/cases.
struct ProductShare {
  double peak, power_loss;

  double at(double a_watt) const { return peak / (1 + power_loss * a_watt); }
};
constexpr ProductShare kLlamacppHalf{0.86, 0.9}, kLlamacppInt8{0.5, 0.1}, kLlamacppInt8SinceAda{0.6, 0.1};
constexpr double kLlamacppDequantised = 0.7, kLlamacppExperts = 0.48;
// AMD's keep 0.84 of that: Radeon RX 7900 XTX (three sources), 6800 XT and Pro W7800.
constexpr double kLlamacppRadeon = 0.84;

double quantised_share(const Plan& plan, double a_watt) {
  const Accelerator& gpu = *plan.accelerator;
  const double half = kLlamacppHalf.at(a_watt);
  if (gpu.vendor != "NVIDIA" || !llamacpp_build(plan.engine_version).int8_products) return half * kLlamacppDequantised;
  return is_board_since_ada(gpu) ? kLlamacppInt8SinceAda.at(a_watt) : std::min(half, kLlamacppInt8.at(a_watt));
}

/// Of `a_watt` TFLOPS a watt.
double llamacpp_product_share(const Plan& plan, double a_watt) {
  const bool quantised = weights_format(plan).bits < 16;
  const bool experts = plan.subject->architecture.experts > 0;
  return (quantised ? quantised_share(plan, a_watt) : kLlamacppHalf.at(a_watt)) * (experts ? kLlamacppExperts : 1) *
         (plan.accelerator->vendor == "AMD" ? kLlamacppRadeon : 1);
}

double llamacpp_flops(const Plan& plan) {
  const Accelerator& gpu = *plan.accelerator;
  const double given = plan.gpu_tflops > 0 ? plan.gpu_tflops : peak_tflops(gpu, "bf16");
  const double tflops = given * (gpu.family == "NVIDIA GeForce" ? 2 : 1);
  return tflops * 1e12 * llamacpp_product_share(plan, plan.watts > 0 ? tflops / plan.watts : kUsualTflopsAWatt);
}

// On Metal 0.88 to 0.97 of products are left with quantised weights (six chips, llama.cpp#4167).
constexpr double kMetalPeak = 0.83, kMetalDequantised = 0.9;

// Elsewhere 0.7 of the products are left of weights in integers of 4 bits: 3.3 s for 16,000 tokens of Qwen3-14B in AWQ
// on an A100 (vllm#20469), and 78 requests of Qwen2.5-7B in GPTQ on an L4.
constexpr double kTurnedIntoOperands = 0.7;
bool turned_into_operands(const Format& format) {
  return format.compute == "fp16" && format.blocks_only && format.bits < 5;
}

// Of each logit, where vllm's sampler sorts the whole vocabulary of every request: the sort alone takes 0.14 ns (2.3 ms
// for 128 x 131072, vllm#40376), with the copies, probabilities and random numbers around it 0.2 (dense models, 8 to
// 256 requests, ML.ENERGY's leaderboard: vllm 0.11, top_p 0.95). Greedy requests go without.
constexpr double kSortedLogitSeconds = 0.2e-9;

// Llama-3.3-70B in FP4 on 2, 4 and 8 RTX PRO 6000 as stages is 1.1, 1.4 and 1.8 times as far from its rooflines as on
// one (TensorRT-LLM's overview): a time that stages do not divide.
constexpr double kStageSeconds = 3e-3;

// Stages of vllm that are nodes of their own take 13 more each: a step's inputs and tokens go to all of them and back
// (v1/executor/ray_distributed_executor.py). Kimi-K2 on two nodes of eight H200, without and with a cache that is
// shared out, and DeepSeek-R1 on three of eight L20 take 14, 8 and 18; without either source the other's are 26% off at
// most.
constexpr double kNodeStageSeconds = 13e-3;

// First tokens of one stream beyond its prompt: 10 ms (NIM, two H100 and two H200), 2 to 7 of vllm 0.8.5 (24 models at
// one request a second, IOG-Foundation/llm-inference-benchmarks).
constexpr double kServerSeconds = 7e-3;

// vllm's API server takes requests in one process: of 1000 that come at one moment the mean waits 3.4 s for its first
// token on 8 B200 (gpt-oss-120b, vllm#23696) as well as 4.1 and 5.2 on an H100 (Qwen3-8B in FP8 and 16 bit,
// gpustack's performance lab), of 512 1.6 (Qwen3.5-9B).
constexpr double kAdmissionSeconds = 7e-3;

// sglang before 0.4 schedules between steps (lmsys.org/blog/2024-12-04-sglang-v0-4, "zero-overhead batch scheduler"):
// 48, 66 and 30 us a request and step of Llama-3.1-8B on an A100, 70B on four H100, Llama-3-8B on two.
constexpr double kSglangOverlaps = 4000, kScheduledRequestSeconds = 40e-6;

// llama.cpp's kernels of one token read what is stored as it is, in any type: 0.93 of bandwidth with F16, Q8_0, Q4_K_M
// and Q4_0 alike on Max chips and an RTX 6000 Ada (0.75 to 0.83 on two joined dies, not told apart here). So do other
// engines that serve one stream: MLC-LLM and ExLlamaV2 write 171 to 197 tokens a second of Llama-2-7B in 4 bits on an
// RTX 3090 and a 4090, MLC 109 of 13B.
constexpr double kLlamacppReads = 0.93;

// ... as far as the chip can unpack them (mmvq.cu: integer products on the ordinary cores): 5.9 bytes a clock of each
// multiprocessor. Fitted on models of 9 to 31 billion parameters in Q4_K_M (pavlokhmel.com, 2026): 0.87 TB/s on an
// A100, 1.54 on H100 and H200, 1.76 on a B300, 0.7 on a V100; an RTX 3060, 3080 and 3090 write what that says, too. A
// multiprocessor has 64 lanes for two FP32 operations a clock, 128 from GA102 on. 16 bit had a kernel as slow before
// llama.cpp#10318: 0.80 TB/s on an A100, 1.02 on an H100 PCIe (XiongjieDai/GPU-Benchmarks-on-LLM-Inference).
constexpr double kUnpackedBytesAClock = 5.9;

double unpacked_bytes_a_second(const Accelerator& gpu) {
  const double lanes = precedes_ampere(gpu) || is_ga100(gpu) ? 64 : 128;
  return gpu.vendor == "NVIDIA" ? kUnpackedBytesAClock * gpu.fp32_tflops * 1e12 / (2 * lanes) : 0;
}

double llamacpp_share(const Plan& plan, double bits) {
  const bool limited = bits < 16 || (bits == 16 && !llamacpp_build(plan.engine_version).reads_half);
  const double unpacked = limited ? unpacked_bytes_a_second(*plan.accelerator) : 0;
  return unpacked > 0 ? std::min(kLlamacppReads, unpacked / (plan.gpu_bw * 1e9)) : kLlamacppReads;
}

bool is_vllm_or_sglang(const Plan& plan) { return plan.engine == Engine::vllm || plan.engine == Engine::sglang; }

// All-reduce of a few kilobytes: one kernel over NVLink; over PCIe 40 us each time the GPUs double (7B to 14B on 2, 4
// and 8 RTX 4090, through host memory: 75, 120 and 110 us; four RTX 3090: 30); several messages over a network (60 us
// between four DGX Spark, 190 between two nodes of 8 H100).
constexpr double kReduceOverLink = 12e-6, kDoublingOverPcie = 40e-6, kReduceOverNetwork = 110e-6;

// Boards that reach each other's memory need one kernel each time (vllm's custom_all_reduce.py and NCCL's rings of
// peers; sglang's as well): 17 ms a step of Qwen3-235B on four RTX PRO 6000. GeForce's drivers do not let them from Ada
// on; before, 30 us on four RTX 3090.
double reduce_over_pcie(const Plan& plan, double gpus) {
  const Accelerator& gpu = *plan.accelerator;
  const bool peers = gpu.vendor == "NVIDIA" && (gpu.family != "NVIDIA GeForce" || gpu.fp8_tflops <= 0);
  const double doubling = peers && is_vllm_or_sglang(plan) ? kReduceOverLink : kDoublingOverPcie;
  double seconds = 0;
  for (double reached = 1; reached < gpus; reached *= 2) seconds += doubling;
  return seconds;
}

bool is_instinct(const Plan& plan) { return plan.accelerator->vendor == "AMD" && is_vllm_or_sglang(plan); }

/// Dense MXFP4 checkpoints of Quark multiply activations in MXFP4, too, where the chip can (vllm's quark_ocp_mx.py:
/// emulated unless supports_mx(), which is gfx95). Experts' (gpt-oss) are turned into 16 bit (quark_moe.py).
bool multiplies_mx(const Plan& plan) {
  return is_instinct(plan) && weights_format(plan).id == "mxfp4" && plan.subject->architecture.experts == 0;
}

/// TFLOPS at which products of this weight format run.
double peak(const Plan& plan) {
  if (plan.gpu_tflops > 0) return plan.gpu_tflops;
  const Accelerator& gpu = *plan.accelerator;
  const std::string_view compute = multiplies_mx(plan) && gpu.fp4_tflops > 0 ? "fp4" : weights_format(plan).compute;
  if (compute == "int8") return gpu.int8_tops > 0 ? gpu.int8_tops : peak_tflops(gpu, "bf16");
  return peak_tflops(gpu, compute);
}

double product_share(const Plan& plan, double peak_tflops, bool of_experts) {
  const Architecture& a = plan.subject->architecture;
  const double width = of_experts && a.expert_ffn > 0 ? std::min(a.hidden, a.expert_ffn) : 0;
  const double a_watt = plan.watts > 0 ? peak_tflops / plan.watts : kUsualTflopsAWatt;
  const double root = std::sqrt(a_watt);  // exact everywhere, which pow is not
  const double lost = kPowerLoss * root * std::sqrt(root) * (1 + (width > 0 ? kNarrow / width : 0));
  const double experts = is_vllm_or_sglang(plan) ? kFusedExperts : kExpertProducts;
  return (of_experts ? experts : 1) * (is_instinct(plan) ? kInstinctProducts : 1) / (1 + lost);
}

/// vllm's and sglang's attention multiplies what it caches in 16 bit (FlashAttention, FlashInfer), whatever the weights
/// are stored in; trtllm's follows them (use_fp8_context_fmha).
double flops_in_16_bit(const Plan& plan) {
  const double tflops = plan.gpu_tflops > 0 ? plan.gpu_tflops : peak_tflops(*plan.accelerator, "fp16");
  return tflops * 1e12 * product_share(plan, tflops, false);
}

}  // namespace

// vllm and sglang: 0.93 with 16 bit, beside the time of each kernel (above); 0.84 to 0.76 with 8 (L4, RTX 4090), whose
// activations are scaled on the way; 0.9 with 4 (QwQ-32B in AWQ on an RTX 3090 Ti, 4090 and 5090, Qwen3-32B on an RTX
// 3090, Qwen2.5-7B on an L4). trtllm: with fewer kernels 0.85, 0.76, 0.62.
double bandwidth_share(const Plan& plan, double bits) {
  if (plan.engine == Engine::llamacpp) return llamacpp_share(plan, bits);
  if (plan.engine == Engine::generic) return kLlamacppReads;
  if (plan.engine == Engine::trtllm) return bits >= 16 ? 0.85 : bits >= 8 ? 0.76 : 0.62;
  return (bits >= 16 ? 0.93 : bits >= 8 ? 0.76 : 0.9) * (is_instinct(plan) ? kInstinctReads : 1);
}

double rows_share(const Plan& plan, double rows) {
  constexpr double kVectors = 8;
  return rows > kVectors ? llamacpp_share(plan, weights_format(plan).bits) / kLlamacppReads : 1;
}

double request_seconds(const Plan& plan) {
  if (plan.engine == Engine::sglang && release_number(plan) < kSglangOverlaps) return kScheduledRequestSeconds;
  const bool sorts = plan.engine == Engine::vllm && release_number(plan) < kVllmTritonSampler;
  return sorts ? kSortedLogitSeconds * plan.subject->architecture.vocab : 0;
}

double stage_seconds(const Plan& plan, const Replica& replica) {
  if (plan.engine == Engine::llamacpp || replica.pp <= 1) return 0;
  const bool apart = plan.engine == Engine::vllm && replica.tp * replica.pp > plan.node && plan.net_bw > 0;
  return (kStageSeconds + (apart ? kNodeStageSeconds : 0)) * replica.pp;
}

double server_seconds(const Plan& plan) { return plan.engine == Engine::llamacpp ? 0 : kServerSeconds; }

double admission_seconds(const Plan& plan) { return plan.engine == Engine::vllm ? kAdmissionSeconds : 0; }

Roofline roofline(const Plan& plan, const Replica& replica) {
  Roofline result;
  const double tflops = peak(plan);
  const bool mixture = plan.subject->architecture.experts > 0, apart = mixture && is_vllm_or_sglang(plan);
  result.flops = tflops * 1e12 * product_share(plan, tflops, mixture && !apart);
  if (apart) result.expert_flops = tflops * 1e12 * product_share(plan, tflops, true);
  if (plan.engine == Engine::llamacpp) {
    const bool metal = plan.accelerator->vendor == "Apple";
    result.flops = metal ? result.flops * kMetalPeak * (weights_format(plan).bits < 16 ? kMetalDequantised : 1)
                         : llamacpp_flops(plan);
  } else if (turned_into_operands(weights_format(plan))) {
    result.flops *= kTurnedIntoOperands;
    result.expert_flops *= kTurnedIntoOperands;
  }
  result.flops16 = is_vllm_or_sglang(plan) ? flops_in_16_bit(plan) : result.flops;
  result.weight_bytes = plan.gpu_bw * 1e9 * bandwidth_share(plan, weights_format(plan).bits);
  // Boards that are sold alone have no network of their own: more of them are in one host.
  const bool nodes = replica.tp > plan.node && plan.net_bw > 0;
  result.link_bytes = (nodes ? plan.net_bw : plan.link_bw) * 1e9;
  result.reduce_seconds = nodes                            ? kReduceOverNetwork
                          : plan.accelerator->link_is_pcie ? reduce_over_pcie(plan, replica.tp)
                                                           : kReduceOverLink;
  return result;
}

}  // namespace vram
