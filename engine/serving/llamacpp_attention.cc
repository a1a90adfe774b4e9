#include "engine/serving/llamacpp_attention.h"

#include <algorithm>
#include <cmath>

#include "engine/formats.h"
#include "engine/serving/weights.h"

// ggml/src/ggml-cuda/fattn.cu and fattn-common.cuh, which programs for Radeons are compiled from, too. Vulkan, Metal
// and SYCL have kernels of their own.
namespace vram {
namespace {

constexpr double kHalf = 2, kAlignment = 128;  // bytes

bool uses_cuda(const Plan& plan) {
  return !plan.accelerator || plan.accelerator->vendor == "NVIDIA" || plan.accelerator->vendor == "AMD";
}

/// ggml_cuda_fattn_kv_type_supported, without GGML_CUDA_FA_ALL_QUANTS.
bool has_kernels(const Format& type) { return type.bits >= 16 || type.id == "q8_0" || type.id == "q4_0"; }

/// 16 bit are fp16, llama.cpp's default; a cache that is asked for in bf16 is converted, too, and cannot be told from
/// it.
bool is_converted(const Format& type) { return type.bits != 16; }

/// Slots that do not share a cache have one each, side by side in one tensor (llama-kv-cache.cpp, get_k).
double slots_apart(const Plan& plan) { return plan.unified ? 1 : std::max(1.0, plan.concurrency); }

constexpr double kVectorTokens = 2;  // of a request, that the vector kernel takes: it reads a cache as it is stored

}  // namespace

bool llamacpp_attends_on_gpu(const Plan& plan) {
  const Format &keys = kv_format(plan), &values = kv_values_format(plan);
  const bool alike = keys.id == values.id || (keys.bits == 16 && values.bits == 16) ||
                     plan.kv_lora_rank > 0;  // a latent's values are a part of it
  return !uses_cuda(plan) || (has_kernels(keys) && alike);
}

/// ggml_cuda_flash_attn_ext_get_f16_extra_data.
double llamacpp_converted_bytes(const Plan& plan, const LlamacppBuild& build, const Attention& attention,
                                double cells) {
  if (!build.converts_caches || !plan.flash || !uses_cuda(plan) || !llamacpp_attends_on_gpu(plan)) return 0;
  const double slots = slots_apart(plan), rows = cells * slots;
  if (plan.ubatch / slots <= kVectorTokens) return 0;
  const bool latent = attention.kv_lora_rank > 0;
  const double keys =
      latent ? attention.kv_lora_rank + attention.rope_head_dim : attention.kv_heads * attention.qk_head_dim;
  const double values = latent ? 0 : attention.kv_heads * attention.v_head_dim;
  double bytes = 0;
  if (is_converted(kv_format(plan))) bytes += kAlignment * std::ceil(rows * keys * kHalf / kAlignment);
  if (is_converted(kv_values_format(plan))) bytes += rows * values * kHalf;
  return bytes;
}

}  // namespace vram
