#pragma once

#include <string>
#include <string_view>

namespace vram {

/// Without the spaces, tabs and line ends around it.
std::string_view trimmed(std::string_view text);

/// Of A to Z; whatever the locale.
constexpr char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
std::string lower_case(std::string_view text);

}  // namespace vram
