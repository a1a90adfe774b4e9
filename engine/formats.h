#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace vram {

/// A GGUF file keeps some tensors wider than its name says (llama.cpp src/llama-quant.cpp). Bits an element, averaged
/// over the layers; 0 = as the rest.
struct FileMix {
  double value = 0;  // attn_v
  double attention_output = 0;
  double down = 0;  // ffn_down, ffn_down_exps
  double head = 0;  // output (and token_embd where it is the output, too)
};

/// How a tensor is stored, of the weights or of the KV cache. `bits` an element include scales and zero points at the usual group size.
struct Format {
  std::string_view id;            // "bf16", "nf4", "q4_k_m"
  std::string_view name;          // "BF16"
  double bits;                    // an element of a quantised linear, scales included
  double nominal_bytes;           // the napkin's: 2, 1, 0.5
  bool blocks_only;               // embedding, head, norms and routers stay in 16 bit
  std::string_view note;          // source of `bits`
  bool experts_only = false;      // of a mixture of experts only the experts are quantised
  std::string_view compute = "";  // the format its products run in: "fp8", "bf16" (a name of peak_tflops)
  FileMix mix = {};
};

std::span<const Format> formats();
const Format* find_format(std::string_view id);

}  // namespace vram
