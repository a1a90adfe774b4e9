#include "engine/formats.h"

namespace vram {
namespace {

// Sources of the bits an element. GGUF: block layouts of ggml/src/ggml-common.h, mixtures of src/llama-quant.cpp
// (engine/serving/gguf.h).
constexpr const char* kPlain = "width of the type";
constexpr const char* kPerTensor = "8 bits; scales a tensor or a channel are below 0.02%";
// Of mixtures of experts the published 4-bit checkpoints quantise the experts alone (gpt-oss in mxfp4, Kimi-K2 in
// int4), or every MLP (ModelOpt's NVFP4 of latent attention: exclude_modules of DeepSeek-R1-FP4 lists lm_head, routers
// and self_attn*; other attention is quantised, too: engine/serving/checkpoint.cc).
constexpr const char* kGroup32 = "4 bits + a 16-bit scale per 32 (compressed-tensors, group_size 32)";
constexpr const char* kGroup128 = "4 bits + a 16-bit scale and a 4-bit zero point per 128 (GPTQ, AWQ group_size 128)";
constexpr const char* kMlc = "4 bits + a 16-bit scale per 32, tables too (mlc_llm/quantization/group_quantization.py)";
constexpr const char* kNf4 = "4 bits + 8-bit constant per 64 + 32-bit constant per 256 of those (QLoRA, section 3)";
constexpr const char* kNvfp4 = "4 bits + an 8-bit scale per 16 (NVFP4)";
constexpr const char* kMx = "element + an 8-bit shared scale per 32 (OCP Microscaling 1.0)";
constexpr const char* kGguf = "GGUF block: ggml-common.h";
constexpr const char* kGgufMix = "GGUF mixture: llama.cpp src/llama-quant.cpp";

constexpr Format kFormats[] = {
    // id, name, bits, nominal bytes, blocks only, note, compute, quantised of mixtures
    {"fp32", "FP32", 32, 4, false, kPlain, "fp32"},
    {"bf16", "BF16", 16, 2, false, kPlain, "bf16"},
    {"fp16", "FP16", 16, 2, false, kPlain, "fp16"},
    {"fp8", "FP8", 8, 1, true, kPerTensor, "fp8"},
    {"int8", "INT8", 8, 1, true, kPerTensor, "int8"},
    {"int4", "INT4 (groups of 32)", 4.5, 0.5, true, kGroup32, "bf16", Quantised::experts},
    {"awq", "AWQ 4-bit", 4.15625, 0.5, true, kGroup128, "fp16"},
    {"gptq", "GPTQ 4-bit", 4.15625, 0.5, true, kGroup128, "fp16"},
    {"q4f16_1", "MLC q4f16_1", 4.5, 0.5, false, kMlc, "fp16"},
    {"nf4", "NF4 (bitsandbytes)", 4.126953125, 0.5, true, kNf4, "bf16"},
    {"nvfp4", "NVFP4", 4.5, 0.5, true, kNvfp4, "fp4", Quantised::mlps},
    {"mxfp4", "MXFP4", 4.25, 0.5, true, kMx, "bf16", Quantised::experts},
    {"mxfp6", "MXFP6", 6.25, 0.75, true, kMx, "fp8"},
    {"mxfp8", "MXFP8", 8.25, 1, true, kMx, "fp8"},
    {"q8_0", "Q8_0", 8.5, 1, false, kGguf, "fp16"},
    {"q6_k", "Q6_K", 6.5625, 0.75, false, kGguf, "fp16"},
    {"q5_k_m", "Q5_K_M", 5.5, 0.625, false, kGgufMix, "fp16"},
    {"q5_k_s", "Q5_K_S", 5.5, 0.625, false, kGgufMix, "fp16"},
    {"q5_1", "Q5_1", 6, 0.625, false, kGguf, "fp16"},
    {"q5_0", "Q5_0", 5.5, 0.625, false, kGguf, "fp16"},
    {"q4_k_m", "Q4_K_M", 4.5, 0.5, false, kGgufMix, "fp16"},
    {"q4_k_s", "Q4_K_S", 4.5, 0.5, false, kGgufMix, "fp16"},
    {"q4_1", "Q4_1", 5, 0.5, false, kGguf, "fp16"},
    {"q4_0", "Q4_0", 4.5, 0.5, false, kGguf, "fp16"},
    {"iq4_nl", "IQ4_NL", 4.5, 0.5, false, kGguf, "fp16"},
    {"iq4_xs", "IQ4_XS", 4.25, 0.5, false, kGgufMix, "fp16"},
    {"q3_k_l", "Q3_K_L", 3.4375, 0.375, false, kGgufMix, "fp16"},
    {"q3_k_m", "Q3_K_M", 3.4375, 0.375, false, kGgufMix, "fp16"},
    {"q3_k_s", "Q3_K_S", 3.4375, 0.375, false, kGgufMix, "fp16"},
    {"q2_k", "Q2_K", 2.625, 0.25, false, kGgufMix, "fp16"},
    {"iq3_xxs", "IQ3_XXS", 3.0625, 0.375, false, kGguf, "fp16"},
    {"iq2_xs", "IQ2_XS", 2.3125, 0.25, false, kGguf, "fp16"},
    {"iq2_xxs", "IQ2_XXS", 2.0625, 0.25, false, kGguf, "fp16"},
    {"iq1_s", "IQ1_S", 1.5625, 0.25, false, kGguf, "fp16"},
};

constexpr auto ids() {
  std::array<std::string_view, std::size(kFormats)> list;
  for (size_t i = 0; i < list.size(); i++) list[i] = kFormats[i].id;
  return list;
}

}  // namespace

constexpr std::array<std::string_view, kFormatCount> kFormatIds = ids();
std::span<const Format> formats() { return kFormats; }

const Format* find_format(std::string_view id) {
  for (const Format& format : kFormats) {
    if (format.id == id) return &format;
  }
  return nullptr;
}

}  // namespace vram
