#include "engine/advice/log/row_index.h"

#include <bit>

#include "engine/advice/log/families.h"
#include "engine/text.h"

namespace vram {
namespace {

size_t pair_of(char first, char second) {
  return (static_cast<uint8_t>(lower_case(first)) * 37u + static_cast<uint8_t>(lower_case(second))) & 1023u;
}

uint64_t in_place(char c, size_t i) { return uint64_t{static_cast<uint8_t>(c)} << (8 * i); }

/// "num_ctx={n n_ctx}": of what a program calls something, in one word.
bool is_key(std::string_view pattern) {
  size_t end = 0;
  while (end < pattern.size() && (is_alphanumeric(pattern[end]) || pattern[end] == '_')) ++end;
  return end > 0 && end < pattern.size() && (pattern[end] == '=' || pattern[end] == '@');
}

Candidate candidate_of(const LogFamily& family, const LogRow& row) {
  Candidate made{&family, &row, row.pattern};
  std::string_view rest = made.pattern;
  if (rest.substr(0, 2) == "{p") rest.remove_prefix(rest.find('}') + 1);
  while (!rest.empty() && rest[0] == ' ') rest.remove_prefix(1);
  if (rest[0] == '{') {
    const bool known = rest[1] == 'n' || rest[1] == 'f' || rest[1] == 'S';
    made.size = rest[1] == 'S';
    rest.remove_prefix(rest.find('}') + 1);
    while (!rest.empty() && rest[0] == ' ') rest.remove_prefix(1);
    if (known && !rest.empty() && !is_pattern_sign(rest[0])) made.behind = lower_case(rest[0]);
    return made;
  }
  made.key = is_key(rest);
  size_t length = 0;
  for (const char c : rest) {
    if (is_pattern_sign(c) || length == made.head.size()) break;
    if (c == ' ') continue;
    made.packed |= in_place(lower_case(c), length);
    made.mask |= in_place('\xff', length);
    made.head[length++] = lower_case(c);
  }
  return made;
}

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

/// What stands before a line is skipped in the middle of a message, so there the comparison itself must tell.
bool begins_line(const LogText& text, size_t at) { return text.gap(at) == Gap::line && text.behind_prefix(at) != at; }

bool may_begin(const Candidate& candidate, const RowBegin& begin) {
  const LogText& text = begin.text;
  const uint64_t other = (begin.packed ^ candidate.packed) & candidate.mask;
  if (other != 0) {
    const size_t first = static_cast<size_t>(std::countr_zero(other)) / 8;
    if (first == 0 || !begins_line(text, begin.at + first)) return false;
  }
  const size_t behind = candidate.size ? begin.behind_size : begin.behind_number;
  if (candidate.size && behind == 0) return false;
  if (candidate.key && begin.behind_underscore) return false;
  if (candidate.row->role == RowRole::environment && !is_capital(text.at(begin.at))) return false;
  return candidate.behind == '\0' || lower_case(text.at(behind)) == candidate.behind || begins_line(text, behind);
}

}  // namespace

RowBegin::RowBegin(const LogText& log, size_t position)
    : text(log), at(position), behind_underscore(at > 0 && text.at(at - 1) == '_' && text.gap(at) == Gap::none) {
  for (size_t i = 0; i < 8; ++i) packed |= in_place(lower_case(text.at(at + i)), i);
  const NumberScan number = scan_number(text, at);
  if (number.result == Scan::absent) return;
  behind_number = number.end;
  const UnitScan unit = scan_unit(text, number.end, Gigabyte::binary);
  if (unit.bytes > 0) behind_size = unit.end;
}

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
  const char second = candidate.head[1];
  if (second != '\0') return by_pair_[pair_of(first, second)].push_back(candidate);
  if (first != '\0') return by_character_[static_cast<uint8_t>(first)].push_back(candidate);
  for (char digit = '0'; digit <= '9'; ++digit) by_character_[static_cast<uint8_t>(digit)].push_back(candidate);
}

const std::vector<Candidate>& RowIndex::by_pair(const RowBegin& begin) const {
  const size_t next = begin.at + 1;
  const LogText& text = begin.text;
  return by_pair_[pair_of(text.at(begin.at), text.at(text.gap(next) == Gap::line ? text.behind_prefix(next) : next))];
}

const Candidate* RowIndex::next(const RowBegin& begin, size_t& from) const {
  const std::vector<Candidate>& longer = by_pair(begin);
  const std::vector<Candidate>& rest = by_character_[static_cast<uint8_t>(lower_case(begin.text.at(begin.at)))];
  while (from < longer.size() + rest.size()) {
    const Candidate& candidate = from < longer.size() ? longer[from] : rest[from - longer.size()];
    ++from;
    if (may_begin(candidate, begin)) return &candidate;
  }
  return nullptr;
}

}  // namespace vram
