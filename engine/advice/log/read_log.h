#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/advice/log/row.h"

namespace vram {

/// One figure that a log states, as it was understood.
struct LogFigure {
  std::string what;  // "tried_bytes", "kv_tokens"
  CaptureKind kind = CaptureKind::number;
  int64_t bytes = 0;
  double number = 0;
  std::string text;
  std::string printed;    // as the log has it: "12.50 MiB"
  const char* tool = "";  // "PyTorch"
  std::string on;         // "CUDA0", "Host": what it is on, where the log names it
  int device = -1, rank = -1;
  uint32_t message = 0, line = 0;
  bool derived = false;  // worked out from others: blocks x tokens of a block
};

/// What stands in a log and could not be read.
struct LogGap {
  std::string what;     // "capacity_bytes"
  std::string printed;  // "95.00"
  std::string why;      // "its unit is missing"
  uint32_t line = 0;
};

struct LogReading {
  std::vector<LogFigure> figures;  // in the order of the log
  std::vector<LogGap> gaps;
  const char* program = "";     // whose lines they are, by what stands before them and by words of its own
  std::string command;          // that started it, or one with the arguments it repeats: read_launch takes it
  bool fixed_segments = false;  // PyTorch's expandable segments do not exist there: Windows
  size_t left_out_bytes = 0;    // of a log too long to read
  size_t left_out_figures = 0;  // of what was printed too often

  bool empty() const { return figures.empty() && gaps.empty(); }
};

/// Never fails: text that says nothing gives nothing. Linear in the length of the log.
LogReading read_log(std::string_view log);

}  // namespace vram
