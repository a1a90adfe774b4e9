#include "engine/training/storage.h"

#include <cmath>

namespace vram {
namespace {

constexpr double kScaleBits = 16, kGroup = 128;  // of GPTQ and AWQ

bool is_pure(Precision precision) { return precision == Precision::bf16_pure || precision == Precision::fp16_pure; }

/// FSDP, FSDP2 and DDP train fp32 weights and copy them to 16 bit; Megatron and DeepSpeed the other way round.
bool keeps_fp32_weights(const Plan& plan) {
  return plan.framework == Framework::fsdp || plan.framework == Framework::fsdp2 || plan.framework == Framework::ddp;
}

double gradient_bits(GradDtype dtype) { return dtype == GradDtype::fp32 ? 32 : 16; }

double moment_bits(Moments moments) {
  switch (moments) {
    case Moments::fp32:
      return 32;
    case Moments::bf16:
      return 16;
    case Moments::fp8:   // one fp32 scale for 256 values: torchao, optim/subclass_fp8.py
    case Moments::int8:  // the same: bitsandbytes blockwise (arXiv 2110.02861), torchao subclass_8bit.py
      return 8.125;
    case Moments::int4:
      return 4.25;  // one fp32 scale for 128 values: torchao, optim/subclass_4bit.py
  }
  return 32;
}

void set_optimizer(const Plan& plan, Storage& storage) {
  storage.moment = moment_bits(plan.moments);
  switch (plan.optimizer) {
    case Optimizer::adamw:
      break;
    case Optimizer::adamw8bit:
      storage.moment = moment_bits(Moments::int8);
      break;
    case Optimizer::adamw4bit:
      storage.moment = moment_bits(Moments::int4);
      break;
    case Optimizer::adafactor:  // arXiv 1804.04235, section 3: the second moment as sums of rows and of columns
      storage.factored = true;
      storage.moments = storage.matrix_moments = 0;
      break;
    case Optimizer::lion:
    case Optimizer::sgdm:  // one momentum (arXiv 2302.06675, algorithm 2)
      storage.moments = storage.matrix_moments = 1;
      break;
    case Optimizer::sgd:
      storage.moments = storage.matrix_moments = 0;
      break;
    case Optimizer::muon:
      storage.matrix_moments = 1;
      break;  // arXiv 2502.16982: AdamW for all that is no matrix
  }
}

}  // namespace

bool trains_all(const Plan& plan) { return plan.method == Method::full; }

Storage storage_of(const Plan& plan) {
  Storage storage;
  const bool fp32 = plan.precision == Precision::fp32, pure = is_pure(plan.precision);
  storage.weight = fp32 || (!pure && keeps_fp32_weights(plan)) ? 32 : 16;
  storage.gradient = gradient_bits(plan.grad_dtype);
  storage.master = storage.weight == 16 && !pure ? 32 : 0;
  // DeepSpeed steps a flat copy of the weights whatever its precision (bf16_master_weights_and_grads, runtime/zero/
  // stage3.py, _create_fp32_partitions).
  if (pure && plan.framework == Framework::deepspeed) storage.master = 16;
  set_optimizer(plan, storage);
  return storage;
}

Storage adapter_storage(const Plan& plan) {
  Storage storage = storage_of(plan);
  const bool megatron = plan.framework == Framework::megatron;
  if ((plan.framework == Framework::deepspeed || megatron) && plan.precision != Precision::fp32) {
    // DeepSpeed casts a whole module and keeps fp32 weights of what is trained (runtime/engine.py,
    // _configure_distributed_model; runtime/zero/stage_1_and_2.py, single_partition_of_fp32_groups). Megatron-LM's
    // optimizer does so, and reduces fp32 gradients (core/optimizer/optimizer.py).
    storage.weight = 16;
    storage.gradient = !megatron ? 16 : plan.has(Key::grad_dtype) ? storage.gradient : 32;
    storage.master = 32;
    if (plan.optimizer != Optimizer::adamw8bit && plan.optimizer != Optimizer::adamw4bit) storage.moment = 32;
    return storage;
  }
  // peft casts adapters to fp32 (autocast_adapter_dtype, tuners/tuners_utils.py), unsloth likewise; gradients follow.
  if (plan.library != Library::hf && plan.library != Library::unsloth) return storage;
  storage.weight = storage.gradient = 32;
  storage.master = 0;
  if (plan.optimizer != Optimizer::adamw8bit && plan.optimizer != Optimizer::adamw4bit) storage.moment = 32;
  return storage;
}

double frozen_linear_bits(const Plan& plan) {
  switch (plan.base) {
    case Base::fp32:
      return 32;
    case Base::bf16:
    case Base::fp16:
      return 16;
    case Base::fp8:
    case Base::int8:
      return 8;
    case Base::nf4:  // arXiv 2305.14314, section 3: an absmax for 64 weights, fp32, or fp8 with fp32 for 256 of them
      return plan.double_quant ? 4 + 8.0 / 64 + 32.0 / (64 * 256) : 4 + 32.0 / 64;
    case Base::gptq:
    case Base::awq:  // 4 bit, groups of 128 with a 16-bit scale and a 4-bit zero point
      return 4 + (kScaleBits + 4) / kGroup;
  }
  return 16;
}

double unsharded_constants_bits(const Plan& plan) {
  if (plan.library == Library::torchtune) return 0;
  if (plan.base == Base::gptq) return kScaleBits / kGroup;
  return plan.base == Base::nf4 || plan.base == Base::awq ? frozen_linear_bits(plan) - 4 : 0;
}

double frozen_other_bits(const Plan& plan) { return plan.base == Base::fp32 ? 32 : 16; }

double compute_bytes(const Plan& plan) { return plan.precision == Precision::fp32 ? 4 : 2; }

bool computes_quantised(const Plan& plan) {
  return plan.library == Library::megatron &&
         (plan.precision == Precision::fp8 || plan.precision == Precision::mxfp8 || plan.precision == Precision::nvfp4);
}

double quantised_bytes(Precision precision) {
  if (precision == Precision::mxfp8) return 1 + 1.0 / 32;
  if (precision == Precision::nvfp4) return 0.5 + 1.0 / 16;
  return 1;
}

double quantised_weight_bytes(const Plan& plan) {
  const bool blackwell = plan.accelerator->family.starts_with("NVIDIA Blackwell");
  return (plan.precision == Precision::fp8 && blackwell ? 1 : 2) * quantised_bytes(plan.precision);
}

bool holds_layer_inputs(const Plan& plan) {
  return plan.framework == Framework::fsdp && plan.library == Library::hf && !trains_all(plan) &&
         plan.recompute == Recompute::full;
}

bool runs_autocast(const Plan& plan) {
  if (plan.framework != Framework::ddp || compute_bytes(plan) == 4) return false;
  return trains_all(plan) ? storage_of(plan).weight == 32 : plan.base == Base::fp32;
}

void push_bits(double bits, const char* meaning, Factors& factors) {
  const double bytes = bits / 8;
  if (bytes == std::floor(bytes)) {
    factors.push_back(times("B", bytes, meaning));
    return;
  }
  factors.push_back(times("bits", bits, "bits each"));
  factors.push_back(over("8", 8, "bits a byte"));
}

}  // namespace vram
