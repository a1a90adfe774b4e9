#include "engine/serving/sglang.h"

#include <string_view>

#include "engine/serving/replica.h"
#include "engine/serving/vllm_run.h"

namespace vram {
namespace {

constexpr std::string_view kWindowPools[] = {"llama4",  "llama4_text", "gpt_oss",     "mimo_v2",       "mimo_v2_flash",
                                             "step3p5", "gemma4",      "gemma4_text", "gemma4_unified"};

/// srt/server_args.py, _get_default_attn_backend: latents' kernels are of 16 or 128 heads.
bool attends_with_aiter(const Plan& plan) {
  constexpr double kDefaultSince = 5e3;  // 0.5
  if (plan.accelerator->vendor != "AMD" || release_number(plan) < kDefaultSince) return false;
  const Architecture& a = plan.subject->architecture;
  const double heads = a.heads / replica_of(plan).tp;
  return a.kv_lora_rank <= 0 || heads == 16 || heads == 128;
}

}  // namespace

bool has_window_pool(const Architecture& a) {
  for (std::string_view type : kWindowPools) {
    if (a.model_type == type) return true;
  }
  return false;
}

// srt/server_args.py, "AMD platforms backends": contexts above 8192 tokens take 0.85 of the share, as given or not.
double kept_fraction(const Plan& plan) {
  constexpr double kLongContext = 8192, kKept = 0.85;
  return attends_with_aiter(plan) && plan.max_len > kLongContext ? kKept : 1;
}

}  // namespace vram
