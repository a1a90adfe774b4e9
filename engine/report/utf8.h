#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace vram {

/// One character at the start of `text`. `valid` false: the first byte begins none; it is then one byte long.
struct Character {
  uint32_t code = 0;
  size_t bytes = 1;
  bool valid = false;
};
Character first_character(std::string_view text);

/// Columns of a terminal: two for East Asian wide characters and emoji, none for combining marks.
size_t display_width(std::string_view text);

}  // namespace vram
