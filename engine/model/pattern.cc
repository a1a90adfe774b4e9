#include "engine/model/layer_shape.h"
#include "engine/text.h"

namespace vram {
namespace {

constexpr size_t kLongestPattern = 4096;

std::string run_lengths(std::string_view letters) {
  std::string out;
  for (size_t i = 0; i < letters.size();) {
    size_t end = i;
    while (end < letters.size() && letters[end] == letters[i]) ++end;
    out += std::to_string(end - i) + letters[i];
    i = end;
  }
  return out;
}

bool repeats(std::string_view letters, size_t period) {
  for (size_t i = period; i < letters.size(); ++i)
    if (letters[i] != letters[i - period]) return false;
  return true;
}

}  // namespace

std::string expand_pattern(std::string_view pattern, std::string_view alphabet) {
  std::string letters;
  for (size_t i = 0; i < pattern.size(); ++i) {
    size_t count = is_digit(pattern[i]) ? 0 : 1;
    for (; i < pattern.size() && is_digit(pattern[i]) && count <= kLongestPattern; ++i)
      count = count * 10 + static_cast<size_t>(pattern[i] - '0');
    if (i >= pattern.size() || alphabet.find(pattern[i]) == std::string_view::npos) return "";
    if (letters.size() + count > kLongestPattern) return "";
    letters.append(count, pattern[i]);
  }
  return letters;
}

std::string shortest_pattern(std::string_view letters) {
  size_t period = 1;
  while (period < letters.size() && !repeats(letters, period)) ++period;
  return run_lengths(letters.substr(0, period));
}

}  // namespace vram
