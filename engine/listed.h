#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vram {

/// "a, b and c", where `last` is " and ".
template <class Text>
std::string listed(const std::vector<Text>& parts, std::string_view last) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? last : ", ";
    text += parts[i];
  }
  return text;
}

}  // namespace vram
