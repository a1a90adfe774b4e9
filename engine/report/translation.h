#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace vram {

/// What the faces say, in another language. The table is a text a translator edits: a line is the English, a tab and
/// the translation; `{}` stands for any text (a figure, a name), in the translation in the same order or by number
/// (`{2}`; `{=2}` as it stands, a key's name); lines without a tab are comments. What the table does not have stays
/// English.
class Translation {
 public:
  Translation() = default;
  explicit Translation(std::string_view table);
  bool empty() const { return exact_.empty() && patterns_.empty(); }

  /// A whole text first, then a pattern, then the parts of a list ("a + b", "a, b", "a. b"), then a word beside a
  /// figure ("MLP 3.28").
  std::string operator()(std::string_view english) const { return translate(english, 0); }

 private:
  struct Pattern {
    std::vector<std::string> parts;  // what stands between the `{}` of the English
    std::string translation;
    size_t literals = 0;  // characters outside of `{}`: the pattern with the most wins
  };
  std::string translate(std::string_view english, int depth) const;
  const std::string* find(std::string_view english) const;
  std::string by_pattern(std::string_view english, int depth) const;
  std::string by_list(std::string_view english, int depth) const;
  std::string beside_figure(std::string_view english, int depth) const;
  std::string inside_a_sentence(std::string_view english, int depth) const;

  std::unordered_map<std::string, std::string> exact_;
  std::vector<Pattern> patterns_;  // those with the most literals first
};

}  // namespace vram
