#pragma once

#include <span>
#include <string_view>

#include "engine/plan/choices.h"

namespace vram {

// The words of each choice, in the order of its enumerators.
using Words = std::span<const std::string_view>;

inline constexpr std::string_view kMethodWords[] = {"full", "lora", "qlora", "adapter", "adapter_v2"};
inline constexpr std::string_view kFrameworkWords[] = {"megatron", "deepspeed", "fsdp", "fsdp2", "ddp"};
inline constexpr std::string_view kLibraryWords[] = {"megatron",  "hf",      "torchtitan", "litgpt",
                                                     "torchtune", "unsloth", "nanogpt"};
inline constexpr std::string_view kPrecisionWords[] = {"bf16", "bf16-pure", "fp16",  "fp16-pure",
                                                       "fp32", "fp8",       "mxfp8", "nvfp4"};
inline constexpr std::string_view kGradDtypeWords[] = {"fp32", "bf16", "fp16"};
inline constexpr std::string_view kMomentsWords[] = {"fp32", "bf16", "fp8", "int8", "int4"};
inline constexpr std::string_view kOptimizerWords[] = {"adamw", "adamw8bit", "adamw4bit", "adafactor",
                                                       "lion",  "sgd",       "sgdm",      "muon"};
inline constexpr std::string_view kScheduleWords[] = {"1f1b", "gpipe", "interleaved", "zerobubble", "dualpipe"};
inline constexpr std::string_view kRecomputeWords[] = {"none", "selective", "full"};
inline constexpr std::string_view kAttentionKernelWords[] = {"eager", "flash"};
inline constexpr std::string_view kLossWords[] = {"full", "inplace", "chunked", "fused", "uncast", "compiled"};
inline constexpr std::string_view kKernelsWords[] = {"eager", "fused"};
inline constexpr std::string_view kResidualWords[] = {"bf16", "fp16", "fp32"};
inline constexpr std::string_view kOffloadWords[] = {"none", "optimizer", "all", "activations"};
inline constexpr std::string_view kAllocatorWords[] = {"default", "expandable"};
inline constexpr std::string_view kLoraTargetsWords[] = {"qv", "attention", "mlp", "all", "all+head"};
inline constexpr std::string_view kBaseWords[] = {"bf16", "fp16", "fp32", "fp8", "int8", "nf4", "gptq", "awq"};
inline constexpr std::string_view kFlopsConventionWords[] = {"6n",    "kaplan", "palm",         "foundry",
                                                             "titan", "bridge", "bridge-26.04", "megatron"};
inline constexpr std::string_view kEngineWords[] = {"generic", "static", "vllm", "sglang", "llamacpp", "trtllm"};
inline constexpr std::string_view kQuestionWords[] = {"fit",      "fewest-gpus",   "longest-seq",   "largest-batch",
                                                      "fastest",  "cheapest",      "concurrency",   "context",
                                                      "replicas", "serve-fastest", "serve-cheapest"};
inline constexpr std::string_view kViewWords[] = {"train", "serve", "plan", "diagnose", "compare"};
inline constexpr std::string_view kLanguageWords[] = {"en", "zh"};
inline constexpr std::string_view kUnitsChoiceWords[] = {"gib", "gb"};
inline constexpr std::string_view kThemeWords[] = {"auto", "light", "dark"};

constexpr Words words_of(Method) { return kMethodWords; }
constexpr Words words_of(Framework) { return kFrameworkWords; }
constexpr Words words_of(Library) { return kLibraryWords; }
constexpr Words words_of(Precision) { return kPrecisionWords; }
constexpr Words words_of(GradDtype) { return kGradDtypeWords; }
constexpr Words words_of(Moments) { return kMomentsWords; }
constexpr Words words_of(Optimizer) { return kOptimizerWords; }
constexpr Words words_of(Schedule) { return kScheduleWords; }
constexpr Words words_of(Recompute) { return kRecomputeWords; }
constexpr Words words_of(AttentionKernel) { return kAttentionKernelWords; }
constexpr Words words_of(Loss) { return kLossWords; }
constexpr Words words_of(Kernels) { return kKernelsWords; }
constexpr Words words_of(Residual) { return kResidualWords; }
constexpr Words words_of(Offload) { return kOffloadWords; }
constexpr Words words_of(Allocator) { return kAllocatorWords; }
constexpr Words words_of(LoraTargets) { return kLoraTargetsWords; }
constexpr Words words_of(Base) { return kBaseWords; }
constexpr Words words_of(FlopsConvention) { return kFlopsConventionWords; }
constexpr Words words_of(Engine) { return kEngineWords; }
constexpr Words words_of(Question) { return kQuestionWords; }
constexpr Words words_of(View) { return kViewWords; }
constexpr Words words_of(Language) { return kLanguageWords; }
constexpr Words words_of(UnitsChoice) { return kUnitsChoiceWords; }
constexpr Words words_of(Theme) { return kThemeWords; }

}  // namespace vram
