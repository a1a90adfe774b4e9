#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vram {

enum class Gap : uint8_t { none, blank, line };  // what stood before a character

/// A log made ready for reading. Terminals wrap lines in the middle of words, pastes lose blanks, boxes and colours
/// come in between: so rows are compared with the characters alone, and white space is kept beside them, where a
/// number needs to know that it ended.
struct LogText {
  std::string characters;       // no white space, colours, boxes, entities
  std::vector<Gap> gaps;        // before each character
  std::vector<uint32_t> lines;  // each character's line in the log, from 1
  size_t left_out = 0;          // bytes in the middle of a log too long to read

  size_t size() const { return characters.size(); }
  char at(size_t i) const { return i < characters.size() ? characters[i] : '\0'; }
  Gap gap(size_t i) const { return i < gaps.size() ? gaps[i] : Gap::line; }
  /// With one blank wherever white space stood.
  std::string excerpt(size_t begin, size_t end) const;
};

/// Linear in the length of the log, of which the first 2 and the last 6 MiB are read.
LogText prepare_log(std::string_view log);

}  // namespace vram
