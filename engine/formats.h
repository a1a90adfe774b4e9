#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace vram {

/// Which linear layers of a mixture of experts the published checkpoints of a format quantise; of a dense model all.
enum class Quantised : uint8_t { linears, mlps, experts };

/// How a tensor is stored, of the weights or of the KV cache. `bits` an element include scales and zero points at the
/// usual group size.
struct Format {
  std::string_view id;            // "bf16", "nf4", "q4_k_m"
  std::string_view name;          // "BF16"
  double bits;                    // an element of a quantised linear, scales included; of a GGUF file most of them
  double nominal_bytes;           // the napkin's: 2, 1, 0.5
  bool blocks_only;               // embedding, head, norms and routers stay in 16 bit
  std::string_view note;          // source of `bits`
  std::string_view compute = "";  // the format its products run in: "fp8", "bf16" (a name of peak_tflops)
  Quantised of_mixtures = Quantised::linears;
};

std::span<const Format> formats();
inline constexpr size_t kFormatCount = 34;
extern const std::array<std::string_view, kFormatCount> kFormatIds;  // of formats(), in order
const Format* find_format(std::string_view id);

}  // namespace vram
