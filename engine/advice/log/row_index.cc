#include "engine/advice/log/row_index.h"

#include "engine/advice/log/families.h"
#include "engine/text.h"

namespace vram {
namespace {

constexpr std::string_view kUnits = "bkmgt";  // the letters a unit begins with

Candidate candidate_of(const LogFamily& family, const LogRow& row) {
  Candidate made{&family, &row, row.pattern};
  std::string_view rest = made.pattern;
  if (rest[0] == '{') {
    const bool bare = rest[1] == 'n' || rest[1] == 'f';
    made.size = rest[1] == 'S';
    rest.remove_prefix(rest.find('}') + 1);
    while (!rest.empty() && rest[0] == ' ') rest.remove_prefix(1);
    if (bare && !rest.empty() && !is_pattern_sign(rest[0])) made.behind_number = lower_case(rest[0]);
    return made;
  }
  size_t length = 0;
  for (const char c : rest) {
    if (is_pattern_sign(c) || length == made.head.size()) break;
    if (c != ' ') made.head[length++] = lower_case(c);
  }
  return made;
}

/// What stands before a line is skipped in the middle of a message, so there the comparison itself must tell.
bool differs(const LogText& text, size_t at, char expected) {
  if (lower_case(text.at(at)) == expected) return false;
  return text.gap(at) != Gap::line || text.behind_prefix(at) == at;
}

bool may_begin(const Candidate& candidate, const RowBegin& begin) {
  const LogText& text = begin.text;
  if (candidate.size) return kUnits.find(lower_case(text.at(begin.number.end))) != std::string_view::npos;
  if (candidate.behind_number != '\0') return !differs(text, begin.number.end, candidate.behind_number);
  for (size_t i = 1; i < candidate.head.size() && candidate.head[i] != '\0'; ++i) {
    if (lower_case(text.at(begin.at + i)) != candidate.head[i]) return !differs(text, begin.at + i, candidate.head[i]);
  }
  return true;
}

}  // namespace

RowIndex::RowIndex() {
  for (const auto families : {compiler_families, torch_families, device_families, training_families, vllm_families,
                              server_families, llamacpp_families, host_families}) {
    for (const LogFamily& family : families()) {
      for (const LogRow& row : family.rows) add(candidate_of(family, row));
    }
  }
}

void RowIndex::add(const Candidate& candidate) {
  const char first = candidate.head[0];
  if (first != '\0') return by_character_[static_cast<uint8_t>(first)].push_back(candidate);
  for (char digit = '0'; digit <= '9'; ++digit) by_character_[static_cast<uint8_t>(digit)].push_back(candidate);
}

const Candidate* RowIndex::next(const RowBegin& begin, size_t& from) const {
  const std::vector<Candidate>& rows = by_character_[static_cast<uint8_t>(lower_case(begin.text.at(begin.at)))];
  while (from < rows.size()) {
    const Candidate& candidate = rows[from++];
    if (may_begin(candidate, begin)) return &candidate;
  }
  return nullptr;
}

}  // namespace vram
