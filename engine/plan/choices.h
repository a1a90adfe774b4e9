#pragma once

#include <cstdint>

// The words of every key that takes one of a list, spelled once: the enumerator is the word of the share string.
// (bf16_pure stands for "bf16-pure", and so on: '_' before "pure" is a dash; fewest_gpus likewise.)
namespace vram {

enum class Method : uint8_t { full, lora, qlora, adapter, adapter_v2 };
enum class Framework : uint8_t { megatron, deepspeed, fsdp, fsdp2, ddp };
enum class Library : uint8_t { megatron, hf, torchtitan, litgpt, torchtune, unsloth, nanogpt };
enum class Precision : uint8_t { bf16, bf16_pure, fp16, fp16_pure, fp32, fp8, mxfp8, nvfp4 };
enum class GradDtype : uint8_t { fp32, bf16, fp16 };
enum class Moments : uint8_t { fp32, bf16, fp8, int8, int4 };
enum class Optimizer : uint8_t { adamw, adamw8bit, adamw4bit, adafactor, lion, sgd, sgdm, muon };
enum class Schedule : uint8_t { one_f_one_b, gpipe, interleaved, zerobubble, dualpipe };  // one_f_one_b = "1f1b"
enum class Recompute : uint8_t { none, selective, full };
enum class AttentionKernel : uint8_t { eager, flash };
enum class Loss : uint8_t { full, inplace, chunked, fused, uncast, compiled };
enum class Kernels : uint8_t { eager, fused };
enum class Residual : uint8_t { bf16, fp16, fp32 };
enum class Offload : uint8_t { none, optimizer, all, activations };
enum class Allocator : uint8_t { default_, expandable };                 // default_ = "default"
enum class LoraTargets : uint8_t { qv, attention, mlp, all, all_head };  // all_head = "all+head"
enum class Base : uint8_t { bf16, fp16, fp32, fp8, int8, nf4, gptq, awq };
enum class FlopsConvention : uint8_t {
  six_n,
  kaplan,
  palm,
  foundry,
  titan,
  bridge,
  bridge_26_04,
  megatron
};                                                                                 // six_n = "6n"
enum class Engine : uint8_t { generic, static_, vllm, sglang, llamacpp, trtllm };  // static_ = "static"
enum class Question : uint8_t {
  fit,
  fewest_gpus,
  longest_seq,
  largest_batch,
  fastest,
  cheapest,
  concurrency,
  context,
  replicas,
  serve_fastest,  // fastest and cheapest, of the server whatever else the plan says
  serve_cheapest
};
enum class View : uint8_t { train, serve, plan, diagnose, compare };
enum class Language : uint8_t { en, zh };
enum class UnitsChoice : uint8_t { gib, gb };
enum class Theme : uint8_t { auto_, light, dark };

}  // namespace vram
