#include "engine/serving/vllm_defaults.h"

#include <algorithm>
#include <string_view>

#include "engine/units.h"

namespace vram {
namespace {

// Float copies, sorted values and indices, probabilities. Fitted on three start-up logs (phi-4 0.94, phi-4-mini 1.83,
// Llama-3-8B 1.26 GiB); predicts gemma-3-4b (9.96 GiB) to 2%; vllm#32558 measured 1.25 GB for 256 x 131072.
constexpr double kSortingSamplerBytes = 39;
// The Triton sampler (vllm#33538; in 0.17, by the date of its merge) does not sort: 384 MiB for 256 x 131072 in vllm#32558.
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

bool contains(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

/// The first engine: up to 0.8, and up to 0.10 on cards older than Ampere or where the version says so.
bool is_v0(const Plan& plan, double version) {
  const std::string_view family = plan.accelerator->family;
  const bool old_card = family == "NVIDIA Turing" || family == "NVIDIA Volta";
  return version < 8e3 || (version < 11e3 && (old_card || contains(plan.engine_version, "V0")));
}

/// vllm/engine/arg_utils.py, create_engine_config of V0: prefill is chunked, 512 tokens at a time, above 32768 alone.
void v0_defaults(const Plan& plan, VllmRun& run) {
  run.tokens = plan.max_len > 32768 ? 512 : std::max(plan.max_len, 2048.0);
  run.sequences = 256;
}

/// vllm/engine/arg_utils.py, get_batch_defaults: the server's. That 0.8 took 1024 sequences on every card is
/// read off one L40S log.
void v1_defaults(const Plan& plan, double version, VllmRun& run) {
  const bool large = plan.gpu_mem >= 70 * kGiB && !contains(plan.accelerator->id, "a100");
  run.tokens = large ? 8192 : 2048;
  run.sequences = large || version < 9e3 ? 1024 : 256;
}

}  // namespace

VllmRun vllm_run(const Plan& plan) {
  const double version = version_number(plan.engine_version);
  VllmRun run{plan.batch_tokens, plan.max_seqs};
  if (!plan.engine_version.empty()) {
    if (is_v0(plan, version)) {
      v0_defaults(plan, run);
    } else {
      v1_defaults(plan, version, run);
    }
    if (plan.has(Key::batch_tokens)) run.tokens = plan.batch_tokens;
    if (plan.has(Key::max_seqs)) run.sequences = plan.max_seqs;
  }
  run.bytes_a_logit = version < 17e3 ? kSortingSamplerBytes : kTritonSamplerBytes;
  run.counts_context = version < 6005;  // vllm#10511: in the log of a 0.6.5-dev, non-torch memory holds the whole context
  run.counts_graphs = version >= 21e3;  // vllm#50780
  return run;
}

}  // namespace vram
