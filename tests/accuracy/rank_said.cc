#include "tests/accuracy/rank_said.h"

#include <cstdlib>
#include <vector>

#include "engine/text.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

/// The number directly behind a word of a name: 1 of "k_gib_rank1" and "rank".
std::optional<int> number_of_word(const std::string& name, const std::string& word) {
  const size_t at = name.find("_" + word), digit = at + 1 + word.size();
  if (at == std::string::npos || digit >= name.size() || !is_digit(name[digit])) return std::nullopt;
  return std::atoi(name.c_str() + digit);
}

bool names_first_stage(const json& c) {
  const json* measured = find(c, "measured");
  if (measured == nullptr || !measured->is_object()) return false;
  for (const auto& [name, value] : measured->items())
    if (number_of_word(name, "pp") == 0) return true;
  return false;
}

/// "2/1/1" from `at` on.
std::vector<double> parts_from(const std::string& said, size_t at) {
  std::vector<double> parts;
  while (at < said.size() && is_digit(said[at])) {
    char* end = nullptr;
    parts.push_back(std::strtod(said.c_str() + at, &end));
    at = static_cast<size_t>(end - said.c_str());
    if (at >= said.size() || said[at] != '/') break;
    ++at;
  }
  return parts;
}

/// As many parts as there are ranks, behind a word that says of what.
std::vector<double> parts_of(const std::string& said, const std::string& of, size_t ranks) {
  for (size_t at = said.find(of); at != std::string::npos; at = said.find(of, at + 1)) {
    size_t digit = at;
    while (digit < said.size() && digit < at + of.size() + 16 && !is_digit(said[digit])) ++digit;
    const std::vector<double> parts = parts_from(said, digit);
    if (parts.size() == ranks && ranks > 1) return parts;
  }
  return {};
}

}  // namespace

std::optional<int> stage_said(const json& c, const std::string& name) {
  const std::optional<int> stage = number_of_word(name, "pp");
  return stage && number(c, "pp") > *stage && names_first_stage(c) ? stage : std::nullopt;
}

std::optional<double> share_of_rank(const json& c, const std::string& name, const char* of) {
  const std::optional<int> rank = number_of_word(name, "rank");
  const auto ranks = static_cast<size_t>(number(c, "tp"));
  if (!rank || static_cast<size_t>(*rank) >= ranks) return std::nullopt;
  const std::vector<double> parts = parts_of(said_of(c), of, ranks);
  double all = 0;
  bool even = true;
  for (const double part : parts) {
    all += part;
    even = even && part == parts[0];
  }
  if (all <= 0 || even) return std::nullopt;
  return parts[static_cast<size_t>(*rank)] / all;
}

}  // namespace vram::accuracy
