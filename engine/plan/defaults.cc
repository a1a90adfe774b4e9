#include "engine/plan/defaults.h"

#include <algorithm>
#include <cmath>

#include "engine/formats.h"

namespace vram {
namespace {

bool is_pure(Precision precision) { return precision == Precision::bf16_pure || precision == Precision::fp16_pure; }

}  // namespace

double whole(double value) { return value >= 1 ? std::floor(value) : 1; }

double default_kv_heads(const Plan& p, const Architecture& base) { return base.kv_heads > 0 ? base.kv_heads : p.heads; }

double default_head_dim(const Plan& p, const Architecture& base) {
  if (base.head_dim > 0) return base.head_dim;
  return p.heads > 0 ? std::floor(p.hidden / p.heads) : 0;
}

Library default_library(const Plan& p) {
  if (p.framework == Framework::megatron) return Library::megatron;
  return p.framework == Framework::fsdp2 ? Library::torchtitan : Library::hf;
}

Precision default_precision(const Plan& p) { return p.method == Method::full ? Precision::bf16 : Precision::bf16_pure; }

GradDtype default_grad_dtype(const Plan& p) {
  switch (p.precision) {
    case Precision::bf16_pure:
      return GradDtype::bf16;
    case Precision::fp16_pure:
      return GradDtype::fp16;
    case Precision::fp32:
      return GradDtype::fp32;
    default:
      break;
  }
  // DeepSpeed accumulates in the model's own format (2/2/12), the others in fp32 (2/4/12, 4/4/8).
  if (p.framework != Framework::deepspeed) return GradDtype::fp32;
  return p.precision == Precision::fp16 ? GradDtype::fp16 : GradDtype::bf16;
}

Moments default_moments(const Plan& p) { return is_pure(p.precision) ? Moments::bf16 : Moments::fp32; }

double default_zero(const Plan& p) {
  switch (p.framework) {
    case Framework::megatron:
      return 1;
    case Framework::fsdp:
    case Framework::fsdp2:
      return 3;
    default:
      return 0;
  }
}

double default_seq(const Plan& p) { return p.max_positions >= 1 ? std::min(4096.0, p.max_positions) : 4096; }

Kernels default_kernels(const Plan& p) { return p.framework == Framework::megatron ? Kernels::fused : Kernels::eager; }

Residual default_residual(const Plan& p) {
  // peft's preparation of a k-bit base casts its norms (utils/other.py, prepare_model_for_kbit_training), unsloth's own
  // none.
  const bool prepared = p.method == Method::qlora && p.library != Library::unsloth;
  if (prepared || p.precision == Precision::fp32) return Residual::fp32;
  const bool fp16 = p.precision == Precision::fp16 || p.precision == Precision::fp16_pure;
  return fp16 ? Residual::fp16 : Residual::bf16;
}

std::string_view default_weights(const Architecture& base) {
  for (const std::string* stored : {&base.quantization, &base.dtype}) {
    const Format* format = find_format(*stored);
    if (format != nullptr) return format->id;
  }
  return "bf16";
}

double default_serve_gpus(const Plan& p) {
  const auto given = [&p](Key key, double value) { return p.has(key) ? value : 1; };
  return given(Key::serve_tp, p.serve_tp) * given(Key::serve_pp, p.serve_pp) * given(Key::serve_dp, p.serve_dp);
}

double default_serve_tp(const Plan& p) {
  return p.has(Key::serve_gpus) ? whole(p.serve_gpus / (p.serve_pp * p.serve_dp)) : 1;
}

double default_block(const Plan& p) {
  if (p.engine == Engine::vllm) return 16;
  return p.engine == Engine::trtllm ? 32 : 1;
}

double default_utilization(const Plan& p) {
  const bool preallocates = p.engine == Engine::vllm || p.engine == Engine::sglang || p.engine == Engine::trtllm;
  return preallocates ? 0.9 : 1;
}

bool default_graphs(const Plan& p) {
  return p.engine == Engine::vllm || p.engine == Engine::sglang || p.engine == Engine::trtllm;
}

}  // namespace vram
