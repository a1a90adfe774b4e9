#pragma once

#include "engine/line.h"
#include "engine/plan/plan.h"

namespace vram {

/// Bits of everything one trained parameter keeps, and of a frozen one, before ZeRO divides them.
struct Storage {
  double weight = 16;  // of trained weights
  double gradient = 16;
  double master = 0;          // fp32 copy beside half-precision weights
  double moment = 32;         // one moment of the optimizer
  double moments = 2;         // of an ordinary parameter
  double matrix_moments = 2;  // of a matrix inside the layers (Muon keeps one)
  bool factored = false;      // Adafactor: sums of rows and columns instead of one moment
};

/// The contract's table: bytes a parameter by framework and precision.
Storage storage_of(const Plan& plan);

/// Of LoRA's adapters (and of embeddings trained beside them).
Storage adapter_storage(const Plan& plan);

/// Frozen linears of the layers; everything else of a frozen base is kept in `frozen_other_bits`.
double frozen_linear_bits(const Plan& plan);
double frozen_other_bits(const Plan& plan);

/// Of these bits a linear, the scales and zero points that no sharding of parameters divides: quantisers keep them
/// beside the parameter or as buffers (bitsandbytes, functional.py, QuantState; AutoGPTQ, QuantLinear, of which FSDP
/// takes qweight and qzeros as parameters: fms-acceleration, autogptq_utils.py, PATCH_FOR_FSDP_TRITON_V2). torchao's
/// NF4 tensors shard them too (torchtune; torchao, dtypes/nf4tensor.py, fsdp_pre_all_gather). 0: none.
double unsharded_constants_bits(const Plan& plan);

/// Bytes of an element in the precision that the layers compute in.
double compute_bytes(const Plan& plan);

/// TransformerEngine's linears multiply in 8 or 4 bit (Megatron-LM's --fp8-format).
bool computes_quantised(const Plan& plan);

/// Bytes of an element that TransformerEngine quantised: fp8 with a scale a tensor, mxfp8 with one for 32 values, nvfp4
/// with one for 16 (transformer_engine/pytorch/tensor). Rows and columns are tensors of their own.
double quantised_bytes(Precision precision);

/// The quantised weights of a linear, bytes a parameter: rows for forward, columns for backward; Blackwell multiplies
/// fp8 columns as they are.
double quantised_weight_bytes(const Plan& plan);

/// FSDP holds every layer's input, and with it that input's gradient, to the end of backward: of a frozen unit it waits
/// for the gradients of the inputs by a hook on each, which keeps them alive (torch/distributed/fsdp/_runtime_utils.py,
/// _register_post_backward_reshard_only_hook). Units are frozen as a whole where peft's wrapping gives adapters units
/// of their own, and inputs are leaves where transformers checkpoints with use_reentrant. LoRA runs of fms-acceleration
/// keep exactly twice the checkpoints.
bool holds_layer_inputs(const Plan& plan);

/// Fp32 weights whose matrix products run in 16 bit under torch.autocast.
bool runs_autocast(const Plan& plan);

/// "2 bytes a parameter", or "4.127 bits a parameter ÷ 8" where it is not whole bytes.
void push_bits(double bits, const char* meaning, Factors& factors);

bool trains_all(const Plan& plan);

}  // namespace vram
