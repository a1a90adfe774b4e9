#pragma once

#include <string>
#include <string_view>

namespace vram {

/// How a quantised checkpoint stores one half of a layer: in its format, in 8 bit beside it, or not quantised.
enum class Stored { as_format, eight_bit, sixteen_bit, count_ };

/// Attention (or the mixer in its place) and MLP of one layer, as a letter of Architecture::unquantized.
struct StoredHalves {
  Stored attention = Stored::as_format, mlp = Stored::as_format;
};
inline constexpr std::string_view kStoredHalves = "qfmebhagx";  // attention's three rows of the MLP's three

inline char letter_of(const StoredHalves& halves) {
  constexpr size_t kWays = static_cast<size_t>(Stored::count_);
  return kStoredHalves[static_cast<size_t>(halves.attention) * kWays + static_cast<size_t>(halves.mlp)];
}

inline StoredHalves halves_of(char letter) {
  constexpr size_t kWays = static_cast<size_t>(Stored::count_);
  const size_t at = kStoredHalves.find(letter);
  if (at == std::string_view::npos) return {};
  return {static_cast<Stored>(at / kWays), static_cast<Stored>(at % kWays)};
}

}  // namespace vram
