#pragma once

#include <span>
#include <string_view>

namespace vram {

/// Other spellings of a config.json field, in the order in which they count.
std::span<const std::string_view> aliases_of(std::string_view field);

}  // namespace vram
