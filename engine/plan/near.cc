#include "engine/plan/near.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "engine/listed.h"
#include "engine/text.h"

namespace vram {
namespace {

constexpr size_t kMost = 4;      // suggestions
constexpr size_t kLongest = 60;  // ids are shorter; a longer text is no mistyped one

/// In small letters: "H100 SXM5" is h100 and sxm5.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words = {""};
  for (const char c : text) {
    if (is_alphanumeric(c)) {
      words.back() += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// "Llama 3.1 8B" and "llama-3.1-8b" are one.
std::string plain(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) joined += word;
  return joined;
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool has_all(const std::vector<std::string>& words, const std::vector<std::string>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& word) { return has(words, word); });
}

/// The first word and every other one, or its beginning: a100 40 of a100-sxm4-40gb.
bool begins_all(const std::vector<std::string>& words, const std::vector<std::string>& wanted) {
  return has(words, wanted.front()) && std::all_of(wanted.begin(), wanted.end(), [&](const std::string& word) {
           return std::any_of(words.begin(), words.end(), [&](const auto& other) { return other.starts_with(word); });
         });
}

/// Words wanted in vain, where the name's first word is wanted and so are half of the others: 1 for b200-180gb of
/// b200-sxm-180gb. Empty where it has less.
std::optional<size_t> words_in_vain(const std::vector<std::string>& words, const std::vector<std::string>& wanted) {
  const auto vain = static_cast<size_t>(
      std::count_if(wanted.begin(), wanted.end(), [&](const std::string& word) { return !has(words, word); }));
  return has(wanted, words.front()) && 2 * vain <= wanted.size() ? std::optional(vain) : std::nullopt;
}

/// Insertions, deletions and changes that turn one into the other (Levenshtein).
size_t edits(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
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
  const std::vector<std::string> words = words_of(name.substr(0, kLongest));
  const std::string wanted = plain(words);
  if (wanted.empty()) return {};
  std::vector<std::pair<size_t, std::string_view>> ranked;
  for (const std::string_view candidate : names) {
    const std::vector<std::string> others = words_of(candidate);
    const std::string other = plain(others);
    const size_t at = wanted.size() >= 3 ? other.find(wanted) : std::string::npos;
    const size_t distance = edits(wanted, other);
    const std::optional<size_t> vain = words_in_vain(others, words);
    if (distance > 0 && has_all(others, words)) {
      ranked.push_back({1, candidate});  // a100 of a100-sxm4-80gb, sooner than a mistyped a10
    } else if (at != std::string::npos) {
      ranked.push_back({std::min<size_t>(2 * distance, at == 0 ? 3 : 4), candidate});  // its beginning, or a part
    } else if (begins_all(others, words)) {
      ranked.push_back({2, candidate});
    } else if (vain && (3 + *vain < 2 * distance || 3 * distance > wanted.size() + 2)) {
      ranked.push_back({3 + *vain, candidate});
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
  return "; did you mean " + listed(matches, " or ") + "?";
}

}  // namespace vram
