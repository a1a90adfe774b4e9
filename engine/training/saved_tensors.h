#pragma once

#include <vector>

#include "engine/plan/plan.h"

namespace vram {

/// Where in a layer a saved tensor belongs: a child of the activations line each.
enum class Area : uint8_t { norms, attention, mlp, moe, mixer, adapters, dropout };

/// A tensor (or several of one width) that autograd keeps of one layer until backward.
struct SavedTensor {
  const char* id;  // unique in its area
  const char* label;
  Area area;
  const char* symbol;   // "a d"
  const char* meaning;  // "query width"
  double width;         // elements a token
  double bytes;         // of an element, all copies
  double split;         // tensor-parallel ranks that share it
  const char* note;
};

using SavedTensors = std::vector<SavedTensor>;
inline constexpr size_t kUsualTensors = 14;  // of one layer

/// How the layers of a plan are computed: what decides which tensors are saved.
struct LayerSetting {
  double h = 0;             // hidden size
  double e = 2;             // bytes of an element in compute precision
  double residual = 2;      // bytes of the residual stream
  double linear_input = 2;  // bytes of a linear's saved input (fp8 keeps the quantised copy)
  double tp = 1;            // cuts heads and ffn
  double sp = 1;            // cuts norms and the residual stream
  double input_split = 1;   // cuts the saved inputs of linears that read the stream
  bool megatron = false;    // Megatron-core's layers
  bool fused_norm = false, fused_mlp = false, layernorm = false;
  bool centred_in_fp32 = false;  // a LayerNorm of elementary operations in fp32 (Cohere)
  bool fp32_product = false;     // an eager norm multiplies by its weight in fp32 (Gemma, OLMo 2)
  bool keeps_qkv = false;        // v is a view that keeps the output of one qkv projection alive beside rotated q and k
  bool one_norm = false;         // attention and MLP read one norm's output
  double activation_widths = 2;  // of the inner width that an MLP's activation keeps: input, intermediate steps, output
  bool casts_inputs = false;     // each linear casts its own input (autocast, or an fp32 residual stream)
  bool trained = true;           // weights carry gradients
  bool trained_norms = true;     // those of the norms
  bool keeps_inputs = true;      // linears keep their inputs: for a weight's gradient, or needlessly
  bool repeats_kv = false;       // k and v are copied for every head before the kernel
  bool adapters_fp32 = false;
  bool adapters_in_place = false;  // unsloth's fused LoRA layers
  bool eager = false;              // scores materialised
  bool recompute_core = false, recompute_mlp = false, recompute_norms = false, recompute_moe = false,
       recompute_product = false, recompute_latent = false, recompute_shared = false;
};

/// Bytes an element that an eager norm keeps besides its output.
double eager_norm_bytes(const LayerSetting& setting);

LayerSetting layer_setting(const Plan& plan, const LayerKind& kind);

/// Everything autograd keeps of one layer of that kind, without recomputation of whole layers.
SavedTensors saved_tensors(const Plan& plan, const LayerSetting& setting, const LayerKind& kind);

/// What a step's graph keeps of the layer until the next step's loss takes its place: nothing but of bitsandbytes'
/// 4-bit linears, which hold their inputs themselves.
SavedTensors outliving_tensors(const Plan& plan, const LayerSetting& setting, const LayerKind& kind);

/// Every other matrix product recomputed (torchtitan's op-level selective activation checkpointing).
SavedTensors saved_by_selected_operations(const LayerSetting& setting, const LayerKind& kind);

/// Bytes a token that live on top while the layer's backward runs.
double transient_bytes_per_token(const Plan& plan, const LayerSetting& setting, const LayerKind& kind);

/// Elements a token that the layer's matrix products give, cut as their ranks cut them.
struct MatmulOutputs {
  double cut = 0, whole = 0;
};
MatmulOutputs matmul_outputs(const LayerKind& kind);

/// Sum over the tensors, bytes a token on one rank.
double bytes_per_token(const SavedTensors& tensors);

// Parts of saved_tensors, a file each.
void save_norms(const Plan& plan, const LayerSetting& setting, const LayerKind& kind, SavedTensors& out);
void save_attention(const Plan& plan, const LayerSetting& setting, const LayerKind& kind, SavedTensors& out);
void save_latent_attention(const Plan& plan, const LayerSetting& setting, const LayerKind& kind, SavedTensors& out);
void save_mlp(const Plan& plan, const LayerSetting& setting, const LayerKind& kind, SavedTensors& out);
void save_experts(const Plan& plan, const LayerSetting& setting, const LayerKind& kind, SavedTensors& out);
void save_adapters(const Plan& plan, const LayerSetting& setting, const LayerKind& kind, SavedTensors& out);

}  // namespace vram
