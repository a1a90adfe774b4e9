#pragma once

#include <string>
#include <string_view>

namespace vram {

/// Without the spaces, tabs and line ends around it.
std::string_view trimmed(std::string_view text);

// Of ASCII, whatever the locale.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
constexpr bool is_alphanumeric(char c) { return is_letter(c) || is_digit(c); }
constexpr char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
std::string lower_case(std::string_view text);

}  // namespace vram
