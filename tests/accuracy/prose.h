#pragma once

#include <string>
#include <vector>

namespace vram::accuracy {

/// A word in small letters, a number, a mark, or a name with its underscores ("*_2000_100", "--max-num-seqs").
struct ProsePiece {
  enum class Kind { word, number, mark, name };
  Kind kind = Kind::mark;
  std::string text;
  double number = 0;
  bool touches_last = false;  // "c64": the number belongs to its letter

  bool is(const char* wanted) const { return text == wanted; }
  bool is_number() const { return kind == Kind::number; }
};
using Prose = std::vector<ProsePiece>;

/// Sentences in pieces; "1,000" and "8k" are numbers, "one" and "single" are 1.
Prose prose_of(const std::string& text);

}  // namespace vram::accuracy
