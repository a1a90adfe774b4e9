#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vram::accuracy {

/// A text that is asked for words: lower case, each part padded with blanks.
class Words {
 public:
  void add(std::string_view text);
  /// `word` as it stands, wherever it begins.
  bool has(std::string_view word) const { return text_.find(word) != std::string::npos; }
  bool has_any(std::initializer_list<std::string_view> words) const;
  /// `word` with no letter or digit beside it.
  bool whole(std::string_view word) const;
  bool whole_any(std::initializer_list<std::string_view> words) const;
  bool empty() const { return text_.empty(); }

 private:
  std::string text_;
};

std::string lower(std::string_view text);

/// Does it hold any of them, wherever they stand?
bool holds_any(std::string_view text, std::initializer_list<std::string_view> words);

/// Is it one of them?
bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words);

/// Words of a text in lower case: letters, digits and what stands in `marks`.
std::vector<std::string> split_words(std::string_view text, std::string_view marks);

/// `count` parts from `from` on, in one name.
std::string joined(const std::vector<std::string>& parts, size_t from, size_t count, char between = '_');

/// Digits and points alone.
bool is_numeric(std::string_view part);

/// "13b": billions of parameters.
bool is_size(std::string_view part);

/// What so many "k" are: of lengths that are powers of two ("1k", "8k") 1024 each, else 1000.
double of_thousands(double value);

/// Whether letters, digits and points between digits of `text` hold `said`, a compact() text, and no further digit
/// stands directly behind its last: "A4000" holds no "a40", "Small-3.1-24B" holds "small3.1".
bool holds(std::string_view text, std::string_view said);

/// Letters and digits only, in lower case; a dot between digits stays ("Llama-3.1-8B" is "llama3.18b").
std::string compact(std::string_view text);

/// The first number in a text, "r16 q,v" is 16.
std::optional<double> first_number(std::string_view text);

/// The number right before `unit`: 80 of "A100-80GB" before "gb".
std::optional<double> number_before(std::string_view text, std::string_view unit);

}  // namespace vram::accuracy
