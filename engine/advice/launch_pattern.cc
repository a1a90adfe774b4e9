#include "engine/advice/launch_pattern.h"

#include "engine/text.h"

namespace vram {
namespace {

constexpr int kDeepest = 8;        // groups in groups
constexpr int kMostSteps = 5'000;  // of one match: patterns that take more are not read
constexpr size_t kMostCharacters = 2000;

bool is_in_class(char letter, char c) { return letter == 'd' ? is_digit(c) : letter == c; }

/// "0-9a-f\d" holds it.
bool is_in_set(std::string_view set, char c) {
  for (size_t i = 0; i < set.size(); ++i) {
    if (set[i] == '\\' && i + 1 < set.size()) {
      if (is_in_class(set[++i], c)) return true;
    } else if (i + 2 < set.size() && set[i + 1] == '-') {
      if (c >= set[i] && c <= set[i + 2]) return true;
      i += 2;
    } else if (set[i] == c) {
      return true;
    }
  }
  return false;
}

}  // namespace

NamePattern::NamePattern(std::string_view pattern) {
  if (pattern.size() > kMostCharacters) {
    read_ = false;
    return;
  }
  std::string_view rest = pattern;
  whole_ = read_alternatives(rest, 0);
  if (!rest.empty()) read_ = false;
}

/// To the end or to the ')' of the group.
NamePattern::Alternatives NamePattern::read_alternatives(std::string_view& rest, int depth) {
  Alternatives out(1);
  while (read_ && !rest.empty() && rest.front() != ')') {
    if (rest.front() == '|') {
      rest.remove_prefix(1);
      out.emplace_back();
      continue;
    }
    Node node;
    if (!read_node(rest, depth, node)) {
      read_ = false;
      break;
    }
    for (; !rest.empty() && (rest.front() == '*' || rest.front() == '+' || rest.front() == '?');
         rest.remove_prefix(1)) {
      node.optional = node.optional || rest.front() != '+';
      node.repeated = node.repeated || rest.front() != '?';
    }
    out.back().push_back(std::move(node));
  }
  return out;
}

bool NamePattern::read_node(std::string_view& rest, int depth, Node& node) {
  using enum Node::Kind;
  const char c = rest.front();
  if (c == '{' || c == '*' || c == '+' || c == '?') return false;
  if (c == '(') {
    rest.remove_prefix(1);
    if (rest.starts_with("?:")) rest.remove_prefix(2);
    if (depth >= kDeepest || rest.starts_with("?")) return false;
    node.kind = group;
    node.group = std::make_shared<Alternatives>(read_alternatives(rest, depth + 1));
    if (!rest.starts_with(")")) return false;
    rest.remove_prefix(1);
    return true;
  }
  if (c == '[') {
    const size_t end = rest.find(']', 1);
    if (end == std::string_view::npos) return false;
    node.kind = set;
    node.characters = rest.substr(1, end - 1);
    node.negated = node.characters.starts_with("^");
    if (node.negated) node.characters.remove_prefix(1);
    rest.remove_prefix(end + 1);
    return true;
  }
  if (c == '\\' && rest.size() < 2) return false;
  const bool escaped = c == '\\';
  node.kind = escaped    ? (rest[1] == 'd' ? set : character)
              : c == '.' ? any
              : c == '^' ? start
              : c == '$' ? end
                         : character;
  node.characters = rest.substr(escaped && node.kind == character ? 1 : 0, node.kind == set ? 2 : 1);
  rest.remove_prefix(escaped ? 2 : 1);
  return true;
}

/// What is still to be matched: the rest of a sequence, then the rest of the one around it.
struct NamePattern::Place {
  const Sequence* sequence;
  size_t at;
  const Place* then;
  size_t since = std::string_view::npos;  // where a round of a repeated group began that ends here
};

struct NamePattern::Matcher {
  std::string_view name;
  int steps = 0;

  bool goes_on(const Place* place, size_t at) {
    if (++steps > kMostSteps) return false;
    while (place != nullptr && place->at == place->sequence->size()) place = place->then;
    if (place == nullptr) return true;
    if (place->since == at) return false;  // a round of nothing would be followed by others for ever
    const Node& node = (*place->sequence)[place->at];
    const Place next{place->sequence, place->at + 1, place->then};
    if (matches(node, place, next, at)) return true;
    return node.optional && goes_on(&next, at);
  }

  bool matches(const Node& node, const Place* place, const Place& next, size_t at) {
    using enum Node::Kind;
    if (node.kind == start) return at == 0 && goes_on(&next, at);
    if (node.kind == end) return at == name.size() && goes_on(&next, at);
    if (node.kind == group) return group_matches(node, place, next, at);
    if (at >= name.size()) return false;
    const bool fits = node.kind == any || (node.kind == set ? is_in_set(node.characters, name[at]) != node.negated
                                                            : node.characters[0] == name[at]);
    if (!fits) return false;
    return (node.repeated && again(node, place, at + 1)) || goes_on(&next, at + 1);
  }

  bool group_matches(const Node& node, const Place* place, const Place& next, size_t at) {
    for (const Sequence& one : *node.group) {
      const Place again{place->sequence, place->at, place->then, at}, inside{&one, 0, &next}, more{&one, 0, &again};
      if (goes_on(&inside, at) || (node.repeated && goes_on(&more, at))) return true;
    }
    return false;
  }

  /// Once more of what may be repeated.
  bool again(const Node& node, const Place* place, size_t at) {
    const Place next{place->sequence, place->at + 1, place->then};
    return ++steps <= kMostSteps && matches(node, place, next, at);
  }
};

bool NamePattern::is_in(std::string_view name) {
  for (size_t from = 0; read_ && from <= name.size(); ++from) {
    for (const Sequence& one : whole_) {
      Matcher matcher{name};
      const Place start{&one, 0, nullptr};
      if (matcher.goes_on(&start, from)) return true;
      if (matcher.steps > kMostSteps) read_ = false;
    }
  }
  return false;
}

}  // namespace vram
