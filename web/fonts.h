#pragma once

#include <span>

namespace vram {

/// Inter, cut down to tools/glyphs.txt when the page is built. The regular face knows more characters.
std::span<const unsigned char> inter_regular();
std::span<const unsigned char> inter_semibold();

}  // namespace vram
