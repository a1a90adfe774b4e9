#pragma once

#include <cstdint>
#include <string_view>

namespace vram {

/// ggml/src/ggml-common.h: bits an element, elements a block.
struct GgufType {
  double bits, block;
  const GgufType* otherwise;  // where a row is no whole number of blocks (llama-quant.cpp, tensor_type_fallback)
};

inline constexpr GgufType kF32 = {32, 1, nullptr}, kF16 = {16, 1, nullptr};
inline constexpr GgufType kQ8 = {8.5, 32, &kF16}, kQ51 = {6, 32, &kF16}, kQ50 = {5.5, 32, &kF16}, kQ41 = {5, 32, &kF16},
                          kQ40 = {4.5, 32, &kF16}, kNl4 = {4.5, 32, &kF16}, kMxfp4 = {4.25, 32, &kF16};
inline constexpr GgufType kQ6K = {6.5625, 256, &kQ8}, kQ5K = {5.5, 256, &kQ51}, kQ4K = {4.5, 256, &kQ50},
                          kQ3K = {3.4375, 256, &kQ40}, kQ2K = {2.625, 256, &kQ40};
inline constexpr GgufType kXs4 = {4.25, 256, &kNl4}, kS3 = {3.4375, 256, &kNl4}, kXxs3 = {3.0625, 256, &kNl4},
                          kS2 = {2.5625, 256, &kNl4}, kXs2 = {2.3125, 256, &kNl4}, kXxs2 = {2.0625, 256, &kNl4},
                          kS1 = {1.5625, 256, &kNl4};

/// In which layers a tensor gets its wider type. grouped: in all, where four query heads share a value head.
enum class GgufWhere : uint8_t {
  never,
  always,
  more_bits,
  first_eighth,
  first_sixteenth,
  first_four,
  first_two,
  grouped
};

/// `wide` in those layers, `rest` (nullptr: the file's own type) in the others.
struct GgufChoice {
  GgufWhere where = GgufWhere::never;
  const GgufType* wide = nullptr;
  const GgufType* rest = nullptr;
};

/// llama-quant.cpp, llama_tensor_get_type_impl: what each file gives the tensors that it does not store in its own
/// type.
struct GgufMixture {
  std::string_view file;
  const GgufType* own;
  GgufChoice value = {}, down = {};
  const GgufType* output = nullptr;     // attn_output
  const GgufType* fused_qkv = nullptr;  // attn_qkv
  const GgufType* query_key = nullptr;  // attn_q, attn_k
  const GgufType* embedding = nullptr;
  const GgufType* head = &kQ6K;
  bool output_of_eight = false;  // of eight experts attn_output is in Q5_K
  bool below_3_bits = false;
};

/// nullptr: a format that is no GGUF file.
const GgufMixture* gguf_mixture(std::string_view file);

/// Bits an element of rows of so many.
double gguf_bits(const GgufType* type, double columns);

}  // namespace vram
