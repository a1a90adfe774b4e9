#pragma once

#include <string_view>

#include "engine/model/model.h"

namespace vram {

// What llama.cpp does with an architecture, where that is not what its config.json says.

/// Its tensors hold query, key and value in one (attn_qkv).
bool fuses_qkv(const Architecture& a);

/// Gate and up are one tensor (ffn_up, LLM_FFN_SWIGLU).
bool fuses_gate_up(const Architecture& a);

/// Attention and MLP read the stream behind a norm of their own; OLMo 2's read the stream itself.
bool norms_first(const Architecture& a);

/// Window layers get a cache of their own only where full ones stand beside them: src/llama-model.cpp reads no window
/// of Mistral, Qwen and StarCoder, and switches Phi-3's off.
bool keeps_windows(const Model& model);

/// What builds differ in. Versions are build numbers ("b1500", "1500") or months ("2023-11"), "cli" behind them where
/// another program than the server runs; where none is given it is one of 2025, whose buffers are the larger ones.
struct LlamacppBuild {
  bool absorbs_latents = true;   // latent attention caches latents, not whole heads (llama.cpp#12801, b5130)
  bool one_buffer = false;       // before the scheduler over several backends (llama.cpp#4766, b1843)
  bool inputs_apart = false;     // graph inputs have a buffer of their own (till llama.cpp#6017, b2400)
  bool caches_values = false;    // beside latents their own values, which are the same (till llama.cpp#19067, b7830)
  bool frees_windows = true;     // window layers have a cache of their own (llama.cpp#13194, b5436)
  bool fuses_gate = true;        // gate x up is a tensor of its own (llama.cpp#14158, b5780), not written over the gate
  bool sets_rows = false;        // caches are written by row (llama.cpp#14959, b6073)
  bool masks_in_half = false;    // with flash attention masks are made in 16 bit (llama.cpp#23764, b9430)
  bool converts_caches = false;  // room for a layer's cache in fp16 is reserved (llama.cpp#23907: b9501, not b9460)
  bool logits_of_slots = false;  // the server reserves logits of a token a slot (llama.cpp#23861), not of a micro-batch
  bool copies_weights = true;    // large batches are worked out on the GPU, with host weights copied to it (b2450)
  bool head_first = false;       // the output layer is the first on the GPU, not the last (llama.cpp#18148, b7470)
  bool values_first = false;     // values are worked out before keys, and experts added up before shared ones (b7500)
  bool reads_copy = false;       // GPUs that take turns read one of their four masks as it is (seen in b10256)
  bool keeps_hidden = false;     // the last hidden states are an output (b7600)
  bool types_drafts = false;     // a draft's cache has a type of its own (seen in b10800; not in 2026-05)
  bool replays_graphs = true;    // CUDA graphs (llama.cpp#6766, b2820): before, the host launches kernel by kernel
  bool reads_half = true;        // vectors by matrices of 16 bit have a kernel of their own (llama.cpp#10318, b4100)
  bool int8_products = true;     // quantised prompts on int8 tensor cores (llama.cpp#7676, b3140): before, in 16 bit
  bool fuses_vectors = false;    // one token's products take gate, activation and bias along (llama.cpp#16715, b6850)
  bool embeds_twice = false;     // rows of the embedding and given ones both enter a graph (llama.cpp#18898, b7770)
};
LlamacppBuild llamacpp_build(std::string_view engine_version);

}  // namespace vram
