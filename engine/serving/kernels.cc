#include "engine/serving/kernels.h"

#include <algorithm>

#include "engine/formats.h"
#include "engine/hardware/generation.h"
#include "engine/serving/llamacpp.h"
#include "engine/serving/vllm_run.h"
#include "engine/serving/weights.h"

namespace vram {
namespace {

/// In seconds; `kernels` of a mixer or an MLP, the others of a layer.
struct LayerSeconds {
  double kernels = 0, routing = 0;
  double launched = 0, routed = 0;  // of the host, where no graph is replayed: prompts; and with experts more
};

// vllm and sglang replay CUDA graphs: 35 us are what is left of a step beyond the bytes read, on dense models of 8 to
// 405 billion parameters (ML.ENERGY's leaderboard, H100 and B200; Qwen3-0.6B on an H20, qwen.readthedocs.io).
// llama.cpp on CUDA: 33 (RTX 6000 Ada, 2026) to 99 us a layer (RTX 4090, before graphs), 12 more with experts
// (gpt-oss-20b); on Metal 125 to 155 us on every chip from M1 Max to M3 Ultra; on ROCm 147 to 187. Prompts with experts
// are launched by the host kernel by kernel: 1.2 ms a layer (MiniMax-M2.5 on 4 B200, vllm) to 1.9 (DeepSeek-R1 in FP4
// on 4 B200, sglang). sglang's first releases with DeepSeek-V3 take 33, 39 and 42 ms a step for 1, 8 and 32 requests on
// 8 H200 (0.4.1), 18 to 26 more than that.
constexpr LayerSeconds kReplayed{35e-6, 40e-6, 0, 1.2e-3}, kSglang{35e-6, 40e-6, 0, 1.9e-3},
    kCompiled{10e-6, 65e-6, 100e-6}, kEarly{35e-6, 400e-6, 0, 1.9e-3};
constexpr double kEarlyBefore = 4005;  // 0.4.5
// Without graphs (--enforce-eager) every step is: 0.52 ms a layer of Qwen3-14B in AWQ on an A100 (vllm#20469), 0.80 of
// Llama-3.1-8B in the cloud, 0.48 and less of gpt-oss-120b on a DGX Spark: experts launch no more than an MLP does.
constexpr LayerSeconds kEager{35e-6, 40e-6, 600e-6, 1.2e-3};
// llama.cpp replays graphs from compute capability 8.0 on: 130 us a layer on a V100 (Pythia 2.8B in its nightly tests),
// and before May 2024 nowhere: 150 and 180 of Llama-2-7B on an A100 (premAI-io/benchmarks, January 2024), 195 of
// Mistral-7B on an RTX 3090, 99 and 128 on an RTX 4090, 265 of Qwen1.5-1.8B on an A100 (ollama#3841).
constexpr LayerSeconds kLlamacppCuda{22.5e-6, 15e-6}, kLlamacppLaunched{65e-6, 15e-6}, kLlamacppGraphless{80e-6, 15e-6},
    kLlamacppOther{75e-6, 15e-6};
// An A100 clocks at 1.4 GHz where others reach 2 and more: 1.5 of it (six models on two of them, pavlokhmel.com, 2026).
constexpr LayerSeconds kLlamacppGa100{34e-6, 22e-6};
// One token's products with their gate, bias and activation are one kernel since then (llama.cpp#16715): 0.6 of it all
// on boards from Ada on (16 figures of an RTX 4080, 4090, 5090, 6000 Ada and PRO 6000), nothing to be seen on H100 to
// B300, nor with recurrent mixers (Qwen3.5, Nemotron-H).
constexpr LayerSeconds kLlamacppFused{13.5e-6, 9e-6};

// Mixtures in vllm and sglang have more kernels than routing: MLA's low-rank products, norms and absorbed matrices,
// shared experts beside the others, an indexer of sparse attention with its top-k. Fitted together, with the share of
// experts' products, on 200 figures of twelve mixtures from 25 sources; one source left out at a time the median error
// is 13%.
constexpr double kLatent = 60e-6, kShared = 55e-6, kIndexer = 270e-6;

// sglang fuses more of them, latents and the shared experts beside them most. On 44 figures of ten mixtures from 14
// sources; one source left out at a time 10%. Before 0.5 latents are not (DeepSeek-R1 and V3 on eight H20, eight B200
// and sixteen H200 write 0.67 to 0.74 of what they would, 0.4.8). Shared experts with a gate of their own run on a
// second stream (sglang#10252, qwen2_moe); others stay apart (GLM-4.6 on eight B200 takes 52 us a layer more than
// Qwen3-235B does, GLM-4.5-Air on four 47).
constexpr double kSglangFused = 0.6, kSglangAbsorbed = 0.15, kSglangAbsorbs = 5000;

// Its fusions are of CUDA. On ROCm a mixture's layer takes 90 us more even so, and its launches 3.3 ms: MiniMax-M2.7 on
// two and four MI300X (0.5.13); DeepSeek-V3.1 on eight (0.5.7) takes 23.8, 35.5 and 53 ms a step for 1, 16 and 64
// requests, and 22.4, 34 and 52 so.
constexpr double kSglangRocmRouting = 130e-6, kSglangRocmRouted = 3.3e-3;

// MXFP4's experts are routed and activated within their products' kernels (triton_kernels' matmul_ogs, FlashInfer).
// Fitted alone, on 52 figures of gpt-oss from nine sources.
constexpr double kRoutedWithin = 10e-6;

// trtllm's prompts alone: 161 ms for 1600 tokens of DeepSeek-R1 on eight B200, 165 on eight H200 (TensorRT-LLM#5929).
// Where steps are under way they come along with them (its throughput tables).
constexpr double kTrtllmRouted = 2.5e-3;

// Prompts' graphs are replayed as well, in pieces (docs.sglang.io, piecewise_cuda_graph): 50 ms for 1000 tokens of
// MiniMax-M2.7 on two GB300 (0.5.10). Elsewhere than on CUDA they are not, nor those of MLA (sglang#18130).
constexpr double kSglangReplaysPrompts = 5010;

bool serves_mixture(const Plan& plan) {
  return (plan.engine == Engine::vllm || plan.engine == Engine::sglang) && plan.subject->architecture.experts > 0;
}

// vllm's first graphs in pieces are of batches up to 512 tokens (its V1 engine, config/compilation.py:
// cudagraph_capture_sizes): shorter prompts are replayed with the step they come in.
constexpr double kVllmReplaysPrompts = 8000, kVllmReplayedTokens = 512;

// The pieces and the attention between them are launched still: fitted on ML.ENERGY's mixtures (prompts of 200 tokens).
constexpr double kPieces = 0.4e-3;

bool is_early(const Plan& plan) { return plan.engine == Engine::sglang && release_number(plan) < kEarlyBefore; }

bool on_rocm(const Plan& plan) { return plan.accelerator->vendor == "AMD"; }

double layers_of(const Model& model, bool (*is_of)(const LayerKind&)) {
  double layers = 0;
  for (size_t k = 0; k < model.kinds.size(); ++k)
    if (is_of(model.kinds[k])) layers += model.layers_of_kind(k, 0, model.layers.size());
  return layers;
}

bool is_attention(const LayerKind& kind) { return kind.mixer == Mixer::full || kind.mixer == Mixer::sliding; }

bool is_recurrent(const LayerKind& kind) { return kind.mixer != Mixer::none && !is_attention(kind); }

LayerSeconds llamacpp_layer_seconds(const Plan& plan, double tokens) {
  const LlamacppBuild build = llamacpp_build(plan.engine_version);
  if (plan.accelerator->vendor != "NVIDIA") return kLlamacppOther;
  if (!build.replays_graphs) return kLlamacppGraphless;
  if (precedes_ampere(*plan.accelerator)) return kLlamacppLaunched;
  if (is_ga100(*plan.accelerator)) return kLlamacppGa100;
  const bool fused = tokens <= 1 && build.fuses_vectors && is_board_since_ada(*plan.accelerator);
  return fused && layers_of(*plan.subject, is_recurrent) == 0 ? kLlamacppFused : kLlamacppCuda;
}

LayerSeconds layer_seconds(const Plan& plan, double tokens = 1) {
  if (plan.engine == Engine::trtllm) return kCompiled;
  if (plan.engine == Engine::generic) return kLlamacppCuda;
  if (is_early(plan)) return kEarly;
  if (plan.engine != Engine::llamacpp && !plan.graphs) return kEager;
  if (plan.engine == Engine::sglang)
    return on_rocm(plan) ? LayerSeconds{35e-6, kSglangRocmRouting, 0, kSglangRocmRouted} : kSglang;
  return plan.engine == Engine::llamacpp ? llamacpp_layer_seconds(plan, tokens) : kReplayed;
}

bool is_latent(const LayerKind& kind) { return is_attention(kind) && kind.attention.kv_lora_rank > 0; }

/// Of one layer, in a mixture that vllm or sglang serves. Recurrent mixers run the same kernels in both.
double mixture_layer_seconds(const Plan& plan, const LayerSeconds& seconds, const LayerKind& kind) {
  const bool attends = is_attention(kind), sglang = plan.engine == Engine::sglang && !on_rocm(plan);
  const bool absorbs = sglang && release_number(plan) >= kSglangAbsorbs;
  double apart = 0, fused = 0, absorbed = 0;
  if (kind.mixer != Mixer::none) (attends ? fused : apart) += seconds.kernels;
  if (is_latent(kind)) absorbed += kLatent;
  if (attends && kind.attention.index_head_dim > 0) fused += kIndexer;
  if (kind.ffn.kind != FfnKind::none) fused += seconds.kernels;
  if (kind.ffn.kind == FfnKind::moe) {
    fused += weights_format(plan).id == "mxfp4" ? kRoutedWithin : seconds.routing;
    const bool beside = is_latent(kind) || plan.subject->architecture.shared_expert_gate;
    if (kind.ffn.shared_width > 0) (beside ? absorbed : apart) += kShared;
  }
  return apart + fused * (sglang ? kSglangFused : 1) + absorbed * (absorbs ? kSglangAbsorbed : 1);
}

bool has_shared_experts(const LayerKind& kind) { return kind.ffn.shared_width > 0; }

bool replays_prompts(const Plan& plan) {
  if (plan.engine == Engine::vllm)
    return plan.graphs && release_number(plan) >= kVllmReplaysPrompts &&
           plan.prompt - std::min(plan.prefix, plan.prompt) * plan.prefix_hit <= kVllmReplayedTokens;
  return plan.engine == Engine::sglang && plan.graphs && plan.accelerator->vendor == "NVIDIA" &&
         release_number(plan) >= kSglangReplaysPrompts && layers_of(*plan.subject, is_latent) == 0;
}

}  // namespace

double half_layers(const Model& model) {
  double halves = 0;
  for (size_t k = 0; k < model.kinds.size(); ++k) {
    const LayerKind& kind = model.kinds[k];
    const double own = (kind.mixer != Mixer::none ? 1 : 0) + (kind.ffn.kind != FfnKind::none ? 1 : 0);
    halves += own * model.layers_of_kind(k, 0, model.layers.size());
  }
  return halves;
}

double kernel_seconds(const Plan& plan, double tokens) {
  const Model& model = *plan.subject;
  const LayerSeconds seconds = layer_seconds(plan, tokens);
  if (!serves_mixture(plan) || is_early(plan)) {
    // DeepSeek-V2-Lite on an RTX 3090 (llama.cpp#15525) takes 78 us a layer more than its bytes and other kernels.
    const bool llamacpp = plan.engine == Engine::llamacpp;
    const double latent = llamacpp ? layers_of(model, is_latent) * kLatent : 0;
    // An MLP beside the experts is one more (src/models/qwen35moe.cpp): Qwen3.5-35B and Gemma 4 26B take 30 to 70 us a
    // layer more than gpt-oss-20b does, on H100, H200 and B300 (pavlokhmel.com, 2026).
    const double beside = llamacpp ? layers_of(model, has_shared_experts) * seconds.kernels : 0;
    return half_layers(model) * seconds.kernels + model.moe_layers() * seconds.routing + latent + beside;
  }
  double sum = 0;
  for (size_t k = 0; k < model.kinds.size(); ++k)
    sum += mixture_layer_seconds(plan, seconds, model.kinds[k]) * model.layers_of_kind(k, 0, model.layers.size());
  return sum;
}

double loaded_launch_seconds(const Plan& plan) {
  if (replays_prompts(plan)) return plan.subject->moe_layers() * kPieces;
  const LayerSeconds seconds = layer_seconds(plan);
  return static_cast<double>(plan.subject->layers.size()) * seconds.launched +
         plan.subject->moe_layers() * seconds.routed;
}

double prompt_launch_seconds(const Plan& plan) {
  const double alone = plan.engine == Engine::trtllm ? kTrtllmRouted : 0;
  return loaded_launch_seconds(plan) + plan.subject->moe_layers() * alone;
}

double step_launch_seconds(const Plan& plan) {
  const bool launches = !plan.graphs && (plan.engine == Engine::vllm || plan.engine == Engine::sglang);
  return launches ? static_cast<double>(plan.subject->layers.size()) * layer_seconds(plan).launched : 0;
}

}  // namespace vram
