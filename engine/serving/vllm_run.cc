#include "engine/serving/vllm_run.h"

#include <algorithm>
#include <string_view>

#include "engine/hardware/generation.h"
#include "engine/units.h"

namespace vram {
namespace {

// Float copies, sorted values and indices, probabilities, beside the batch's hidden states: 38.1 to 39.7 in eleven
// start-up logs (Llama-3-8B 1.26, phi-4 0.94, Llama-3.3-70B 4.84, gpt-oss 7.38, gemma-3-4b 9.96 GiB).
constexpr double kSortingSamplerBytes = 38.6;
// The Triton sampler of 8 rows and more (v1/sample/ops/topk_topp_sampler.py, apply_top_k_top_p; vllm#33538, merged
// between 0.16 and 0.17) does not sort: 384 MiB for 256 x 131072 in vllm#32558. The second model runner's does again:
// peaks of 1.44 GiB for 256 x 128256 (0.31) and 2.33 GiB for 256 x 248320 are 47 and 39 B a logit.
constexpr double kTritonSamplerBytes = 12;
// Before 0.8 the first engine samples nothing where it profiles a part of a prompt: peaks of 0.06 GiB for 256 x 128256,
// of 0.19 for 256 x 152064 on two GPUs and of 0.22 with 2048 tokens (0.6 and 0.7, max_len above 32768); 0.8.5
// takes 1.45 for 256 x 151936.
constexpr double kUnsampledBytes = 2;
// Its logits and their copy in float, where it is told of no top-k: 0.27.1 has a peak of 0.31 GiB with 256 x 151936.
constexpr double kCopyingSamplerBytes = 6;
// vllm-ascend, worker/model_runner_v1.py, NPUModelRunner.profile_run: at most the logits are computed, in 16 bit, and
// none is sampled; Qwen3-0.6B's peak of 8192 tokens is its widest layer, 0.22 GiB.
constexpr double kNpuSamplerBytes = 2;
constexpr double kSecondRunnerSince = 28e3;
// The release that first charges graphs to its budget: 0.20.0 says so at 0.9 of an RTX 5090 ("0.39 GiB ... equivalent
// to 0.8878 without"); the one that takes 0.92 by itself.
constexpr double kCountsGraphs = 20e3, kWiderShare = 21e3;

double version_number(std::string_view text) {
  if (text.empty() || text.starts_with("b")) return 1e9;                              // none, or a build of llama.cpp
  double parts[3] = {0, 0, 9};                                                        // "0.6" is the last of its line
  const bool before = text.find("dev") != text.npos || text.find("rc") != text.npos;  // the release it leads to
  size_t i = text.starts_with("v") ? 1 : 0;
  for (double& part : parts) {
    if (i >= text.size() || text[i] < '0' || text[i] > '9') break;
    for (part = 0; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) part = part * 10 + (text[i] - '0');
    if (i < text.size() && text[i] == '.') ++i;
  }
  return parts[0] * 1e6 + std::min(parts[1], 999.0) * 1e3 + std::min(parts[2], 999.0) - (before ? 0.5 : 0);
}

/// From 0.8 on, and from 0.11 on nothing else; it needs Ampere.
bool is_second_engine(const Plan& plan, double version) {
  const bool first = plan.engine_version.find("V0") != std::string::npos || precedes_ampere(*plan.accelerator);
  return version >= 11e3 || (version >= 8e3 && !first);
}

/// MLPs that overwrite gate and up with their product (model_executor/models/llama.py, LlamaMLP.forward, which Mistral
/// and Phi-3 share); the others hold them to the end (qwen2.py, Qwen2MLP.forward). What is compiled lets go of them.
bool keeps_gate_up(const Plan& plan, bool second_engine) {
  const std::string_view type = plan.subject->architecture.model_type;
  const bool overwrites = type.empty() || type == "llama" || type == "mistral" || type == "phi3";
  const bool compiled = second_engine && plan.graphs;
  return !overwrites && !compiled;
}

/// Marlin's a_tmp, as large as its input whether or not columns are reordered (csrc/quantization/gptq_marlin/
/// gptq_marlin.cu, gptq_marlin_gemm; since vllm#16850, 0.9, only where they are). It matters beside gate and up alone.
bool copies_input(const Plan& plan, double version) {
  const bool marlin = plan.weights == "awq" || plan.weights == "gptq";
  return marlin && version < 9e3 && !precedes_ampere(*plan.accelerator);
}

/// v1/worker/gpu/model_runner.py: of every model from 0.28 on (vllm#53183); before, where VllmConfig's
/// use_v2_model_runner names the model: from 0.23 on three families in 16 bit, in 0.27 all that are dense.
bool has_second_runner(const Plan& plan, double version) {
  const Architecture& a = plan.subject->architecture;
  if (version >= kSecondRunnerSince) return true;
  if (version < 23e3 || a.experts > 0 || !a.linear.kind.empty()) return false;
  const bool named = !a.has_vision && (a.model_type == "llama" || a.model_type == "mistral" || a.model_type == "qwen3");
  return version >= 27e3 || (named && (plan.weights == "bf16" || plan.weights == "fp16"));
}

}  // namespace

double release_number(const Plan& plan) { return version_number(plan.engine_version); }

VllmRun vllm_run(const Plan& plan) {
  const double version = release_number(plan);
  VllmRun run{plan.batch_tokens, plan.max_seqs};
  run.second_runner = has_second_runner(plan, version);
  const bool sorts = version < kVllmTritonSampler || version >= kSecondRunnerSince;
  run.bytes_a_logit = sorts ? kSortingSamplerBytes : run.second_runner ? kCopyingSamplerBytes : kTritonSamplerBytes;
  const bool second_engine = is_second_engine(plan, version);
  run.samples = version >= 8e3 || plan.batch_tokens >= plan.max_len;
  if (!run.samples) run.bytes_a_logit = kUnsampledBytes;
  if (plan.accelerator->family == std::string_view("Huawei Ascend")) run.bytes_a_logit = kNpuSamplerBytes;
  run.keeps_gate_up = keeps_gate_up(plan, second_engine);
  run.copies_input = run.keeps_gate_up && copies_input(plan, version);
  // vllm#10511 (0.6.5): before, non-torch memory held the whole context; and in the second engine, until it took over
  // the first one's profiler (vllm#19312, 0.9.2), all that is in use and not PyTorch's.
  run.counts_context = version < 6005 || (second_engine && version < 9002);
  run.caches_encoder = second_engine;
  // From 0.20 on (vllm#50780). The second runner's accounts leave them out: budget = consumed + peak activation + KV to
  // 0.01 GiB in eight logs of August to October 2026, with 0.04 to 3.9 GiB of graphs beside them.
  run.counts_graphs = version >= kCountsGraphs && !run.second_runner;
  run.counts_communication = version < 11e3;  // vllm#25359
  // vllm#50991. Where no version is named it is the plan that says whether a prefix is shared.
  run.caches_states = version >= 27e3 && !plan.engine_version.empty();
  return run;
}

VllmLimits vllm_limits(const Plan& plan) {
  const double version = release_number(plan);
  // create_engine_config of the first engine: prefill is chunked, 512 tokens at a time, where max_len is above 32768.
  if (!is_second_engine(plan, version)) return {plan.max_len > 32768 ? 512 : std::max(plan.max_len, 2048.0), 256};
  const bool a100 = plan.accelerator->id.find("a100") != std::string::npos;  // vllm#17885
  const bool large = plan.gpu_mem >= 70 * kGiB && !a100;
  const bool many = large || version < 9e3;  // _override_v1_engine_args of 0.8: on every card
  return {large ? 8192.0 : 2048.0, many ? 1024.0 : 256.0};
}

double vllm_utilization(const Plan& plan) { return release_number(plan) < kWiderShare ? 0.9 : 0.92; }

}  // namespace vram
