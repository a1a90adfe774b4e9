#include "engine/serving/expert_steps.h"

#include "engine/serving/vllm_run.h"

namespace vram {
namespace {

/// TensorRT-LLM pads both to 128 (fused_moe/quantization.py, MXFP4WeightCutlassFusedMoEMethod.weight_alignment): 63.32
/// GiB of gpt-oss-120b.
constexpr ExpertSteps kTrtllmSteps{128, 128, 1};
/// On Hopper Triton's, whose layout once summed over whole 256 and since triton_kernels 3.6 packs the other way
/// (tensor_details/layout_details/hopper_value.py, swizzle_data: 64 of either): 64.4 GiB of gpt-oss-120b with
/// 0.14, 61.3 with 0.25. 0.10 has them where they were installed by hand, else Marlin's.
ExpertSteps hopper_steps(double release) {
  constexpr double kBundlesTriton = 11e3, kPacksRows = 20e3;
  if (release < kBundlesTriton) return {};
  return release < kPacksRows ? ExpertSteps{1, 64, 256} : ExpertSteps{1, 64, 64};
}

}  // namespace

/// quantization/mxfp4.py, create_weights; since 0.19 fused_moe/oracle/mxfp4.py.
ExpertSteps expert_steps(const Plan& plan) {
  if (plan.engine == Engine::trtllm) return kTrtllmSteps;
  const Accelerator& gpu = *plan.accelerator;
  if (gpu.family == "NVIDIA Hopper") return hopper_steps(release_number(plan));
  if (gpu.vendor == "Intel") return {1, 64, 1};
  const bool data_centre = gpu.family.starts_with("NVIDIA Blackwell") && gpu.link_gb_s > 0 && !gpu.link_is_pcie;
  return data_centre || gpu.vendor == "AMD" ? ExpertSteps{256, 256, 1} : ExpertSteps{};
}

}  // namespace vram
