#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vram {

/// Up to four of `names` that a mistyped `name` may have meant, nearest first.
std::vector<std::string_view> near_matches(std::string_view name, const std::vector<std::string_view>& names);

/// "; did you mean a, b or c?", or nothing.
std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& names);

}  // namespace vram
