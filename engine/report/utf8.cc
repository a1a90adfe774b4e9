#include "engine/report/utf8.h"

namespace vram {
namespace {

struct Range {
  uint32_t first, last;
};

// Unicode 15, EastAsianWidth.txt: the blocks of classes W and F.
constexpr Range kWide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},  {0xac00, 0xd7a3},
                           {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},  {0xffe0, 0xffe6},
                           {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
constexpr Range kZero[] = {{0x0300, 0x036f}, {0x200b, 0x200f}, {0xfe00, 0xfe0f}};

template <size_t n>
bool among(const Range (&ranges)[n], uint32_t code) {
  for (const Range& range : ranges) {
    if (code >= range.first && code <= range.last) return true;
  }
  return false;
}

/// Bytes of the sequence that `lead` begins, 0 for none.
size_t sequence_bytes(uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

}  // namespace

Character first_character(std::string_view text) {
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  Character result;
  if (text.empty()) return result;
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t bytes = sequence_bytes(lead);
  if (bytes == 0 || bytes > text.size()) return result;
  uint32_t code = bytes == 1 ? lead : lead & (0xffu >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<uint8_t>(text[i]);
    if ((next & 0xc0) != 0x80) return result;
    code = code << 6 | (next & 0x3fu);
  }
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kLeast[bytes] || code > 0x10ffff || surrogate) return result;
  return {code, bytes, true};
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    if (static_cast<uint8_t>(text[0]) < 0x80) {  // nearly all
      ++width;
      text.remove_prefix(1);
      continue;
    }
    const Character character = first_character(text);
    text.remove_prefix(character.bytes);
    if (among(kZero, character.code)) continue;
    width += among(kWide, character.code) ? 2 : 1;
  }
  return width;
}

}  // namespace vram
