#pragma once

#include <memory>
#include <string_view>
#include <vector>

namespace vram {

/// A regular expression as people give for names of tensors: characters, '.', classes, groups, '|', '*', '+', '?', '^'
/// and '$'. What is beyond that (counts in braces, look-ahead) matches nothing. std::regex throws and takes as much
/// stack as a pattern asks for.
class NamePattern {
 public:
  explicit NamePattern(std::string_view pattern);
  /// Is it found anywhere in the name? A pattern that takes too long is not read from then on.
  bool is_in(std::string_view name);
  bool is_read() const { return read_; }

 private:
  struct Node;
  using Sequence = std::vector<Node>;
  using Alternatives = std::vector<Sequence>;
  struct Node {
    enum class Kind : uint8_t { character, any, set, group, start, end };
    Kind kind = Kind::character;
    bool negated = false;
    bool optional = false, repeated = false;
    std::string_view characters;  // one, or what stands between brackets
    std::shared_ptr<Alternatives> group;
  };
  struct Place;  // where a match goes on
  struct Matcher;

  Alternatives read_alternatives(std::string_view& rest, int depth);
  bool read_node(std::string_view& rest, int depth, Node& node);

  Alternatives whole_;
  bool read_ = true;
};

}  // namespace vram
