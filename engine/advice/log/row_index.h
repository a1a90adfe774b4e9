#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/advice/log/row.h"

namespace vram {

/// A row, with what is known of its beginning before it is compared.
struct Candidate {
  const LogFamily* family = nullptr;
  const LogRow* row = nullptr;
  std::string_view pattern;
  std::array<char, 8> head = {};  // the characters it begins with, small letters without blanks; 0: anything
  uint64_t packed = 0, mask = 0;  // the same in one number; which of its bits count
  char behind = '\0';             // of one that begins with a number or a size: what stands behind it, where known
  bool size = false;              // of one that begins with a size: a unit stands behind the number
  bool key = false;               // of a name and its value: begins no other name, "effective_num_ctx="
};

/// A position where a row may begin, with the number and the size that begin there.
struct RowBegin {
  RowBegin(const LogText& log, size_t position);

  const LogText& text;
  size_t at;
  bool behind_underscore;
  uint64_t packed = 0;                        // eight characters from there on, small letters
  size_t behind_number = 0, behind_size = 0;  // 0: none begins there
};

/// The rows of all tools, by the two characters they begin with. Of the millions of characters of a log hardly any
/// begins a row: their heads tell that without the whole comparison.
class RowIndex {
 public:
  RowIndex();

  /// Of the rows that may begin there, the next one from `from` on; null: no more.
  const Candidate* next(const RowBegin& begin, size_t& from) const;

 private:
  void add(const Candidate& candidate);
  const std::vector<Candidate>& by_pair(const RowBegin& begin) const;

  std::array<std::vector<Candidate>, 1024> by_pair_;
  std::array<std::vector<Candidate>, 256> by_character_;  // rows that begin with a number, or with one character
};

}  // namespace vram
