#include "engine/serving/vllm_run.h"

#include <algorithm>
#include <string_view>

#include "engine/units.h"

namespace vram {
namespace {

// Float copies, sorted values and indices, probabilities. Fitted on three start-up logs (phi-4 0.94, phi-4-mini 1.83,
// Llama-3-8B 1.26 GiB); predicts gemma-3-4b (9.96 GiB) to 2%; vllm#32558 measured 1.25 GB for 256 x 131072.
constexpr double kSortingSamplerBytes = 39;
// The Triton sampler of 8 rows and more (v1/sample/ops/topk_topp_sampler.py, apply_top_k_top_p; vllm#33538, merged
// between 0.16 and 0.17) does not sort: 384 MiB for 256 x 131072 in vllm#32558.
constexpr double kTritonSamplerBytes = 12;

/// 0.6.5 -> 6005; nothing given is newer than all.
double version_number(std::string_view text) {
  if (text.empty()) return 1e9;
  double parts[3] = {0, 0, 9};  // "0.6" is the last of its line
  size_t i = text.starts_with("v") ? 1 : 0;
  for (double& part : parts) {
    if (i >= text.size() || text[i] < '0' || text[i] > '9') break;
    for (part = 0; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) part = part * 10 + (text[i] - '0');
    if (i < text.size() && text[i] == '.') ++i;
  }
  return parts[0] * 1e6 + std::min(parts[1], 999.0) * 1e3 + std::min(parts[2], 999.0);
}

}  // namespace

VllmRun vllm_run(const Plan& plan) {
  const double version = version_number(plan.engine_version);
  VllmRun run{plan.batch_tokens, plan.max_seqs};
  run.bytes_a_logit = version < 17e3 ? kSortingSamplerBytes : kTritonSamplerBytes;
  run.counts_context = version < 6005;  // vllm#10511: in the log of a 0.6.5-dev, non-torch memory holds the whole context
  run.counts_graphs = version >= 21e3;  // vllm#50780
  return run;
}

VllmLimits vllm_limits(const Plan& plan) {
  const bool a100 = plan.accelerator->id.find("a100") != std::string::npos;  // vllm#17885
  const bool large = plan.gpu_mem >= 70 * kGiB && !a100;
  return large ? VllmLimits{8192, 1024} : VllmLimits{2048, 256};
}

}  // namespace vram
