#include "engine/plan/near.h"

#include <algorithm>
#include <utility>

namespace vram {
namespace {

constexpr size_t kMost = 3;      // suggestions
constexpr size_t kLongest = 60;  // ids are shorter; a longer text is no mistyped one

/// Small letters and digits only: "Llama 3.1 8B" and "llama-3.1-8b" are one.
std::string plain(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') result += static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) result += c;
  }
  return result;
}

/// Insertions, deletions and changes that turn one into the other (Levenshtein).
size_t edits(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string_view> near_matches(std::string_view name, const std::vector<std::string_view>& names) {
  const std::string wanted = plain(name.substr(0, kLongest));
  if (wanted.empty()) return {};
  std::vector<std::pair<size_t, std::string_view>> ranked;
  for (const std::string_view candidate : names) {
    const std::string other = plain(candidate);
    const size_t at = wanted.size() >= 3 ? other.find(wanted) : std::string::npos;
    const size_t distance = edits(wanted, other);
    if (at != std::string::npos) {
      ranked.push_back({std::min<size_t>(2 * distance, at == 0 ? 3 : 4), candidate});  // its beginning, or a part
    } else if (3 * distance <= wanted.size() + 2) {
      ranked.push_back({2 * distance, candidate});
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string_view> matches;
  for (size_t i = 0; i < ranked.size() && i < kMost && ranked[i].first == ranked[0].first; ++i) {
    matches.push_back(ranked[i].second);
  }
  return matches;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& names) {
  const std::vector<std::string_view> matches = near_matches(name, names);
  if (matches.empty()) return "";
  std::string text = "; did you mean ";
  for (size_t i = 0; i < matches.size(); ++i) {
    if (i > 0) text += i + 1 == matches.size() ? " or " : ", ";
    text += matches[i];
  }
  return text + "?";
}

}  // namespace vram
