#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vram {

/// What stood before a character. A terminal that is full breaks a line anywhere: `broken` is inside a number.
enum class Gap : uint8_t { none, broken, blank, line };

/// "(EngineCore pid=12) ERROR 09-01 12:00:00 [core.py:708]": what a logger, a container or a quotation puts before a
/// line. A message over several lines goes on behind it.
struct LinePrefix {
  size_t begin = 0, end = 0;  // in characters
};

/// A log made ready for reading. Terminals wrap lines in the middle of words, pastes lose blanks, boxes and colours
/// come in between: so rows are compared with the characters alone, and white space is kept beside them, where a
/// number needs to know that it ended.
struct LogText {
  std::string characters;       // no white space, colours, boxes, entities, Markdown's marks
  std::vector<Gap> gaps;        // before each character
  std::vector<uint32_t> lines;  // each character's line in the log, from 1
  std::vector<LinePrefix> prefixes;
  std::vector<size_t> continued;  // where a line begins that a backslash joins to the last
  std::vector<size_t> wraps;      // where a line begins that a full terminal may have broken off the last
  size_t left_out = 0;            // bytes in the middle of a log too long to read

  size_t size() const { return characters.size(); }
  char at(size_t i) const { return i < characters.size() ? characters[i] : '\0'; }
  Gap gap(size_t i) const { return i < gaps.size() ? gaps[i] : Gap::line; }
  /// Where a line that begins at `i` says something of its own; `i` itself where nothing stands before that.
  size_t behind_prefix(size_t i) const;
  bool wrapped(size_t i) const;
  /// Behind what stands before `i` on its line; 0 where nothing does.
  size_t prefix_before(size_t i) const;
  /// True where nothing of its own stands before `i` on its line.
  bool begins_line(size_t i) const;
  /// With one blank wherever white space stood.
  std::string excerpt(size_t begin, size_t end) const;
};

/// Linear in the length of the log, of which the first 2 and the last 6 MiB are read.
LogText prepare_log(std::string_view log);

}  // namespace vram
