#pragma once

#include <span>

namespace vram {

/// Inter, cut down to tools/glyphs.txt when the page is built; empty where the machine had no Inter.
std::span<const unsigned char> inter_regular();
std::span<const unsigned char> inter_semibold();

}  // namespace vram
