#include "engine/advice/log/row.h"
#include "engine/text.h"

namespace vram {
namespace {

constexpr size_t kSkip = 200, kWord = 120;
constexpr size_t kCutWords = 3;       // characters of a text cut off that are enough to know it by
constexpr size_t kCutSizeWords = 12;  // where no word stands before the size
constexpr size_t kArgument = 40;      // characters of one
constexpr uint64_t kLeastBytes = 1 << 20;
constexpr size_t kKnown = 6;  // characters that matched before a size without a unit, to take it for one

bool word_character(char c) { return is_alphanumeric(c); }

/// A pattern against a text, from one position on.
struct Matcher {
  std::string_view pattern;
  const LogText& text;
  Gigabyte gigabyte;
  size_t at = 0;
  size_t literal = 0;  // characters of the words before `at` that matched
  size_t matched = 0;  // of all words so far
  bool captured = false;
  size_t dash_end = std::string::npos;  // behind the dash that matched last
  RowMatch out;

  static void skip_blanks(std::string_view& rest) {
    while (!rest.empty() && rest[0] == ' ') rest.remove_prefix(1);
  }

  /// All of `rest`; where it fails, `at` is where it stopped being right.
  bool run(std::string_view rest) {
    bool enough = false;
    size_t good = at, kept = out.captures.size();  // at the last ^
    while (true) {
      skip_blanks(rest);
      if (rest.empty()) return true;
      if (rest[0] == '^') {
        enough = true;
        rest.remove_prefix(1);
        good = at;
        kept = out.captures.size();
        continue;
      }
      const size_t before = rest.size();
      if (!step(rest) || rest.size() >= before) break;  // a step that takes nothing of the row ends it: no row hangs
    }
    if (!enough) return false;
    at = good;
    drop_captures(kept);
    return true;
  }

  /// Those from `first` on, but for what is there and cannot be read.
  void drop_captures(size_t first) {
    std::vector<Capture> rest(out.captures.begin(), out.captures.begin() + static_cast<ptrdiff_t>(first));
    for (size_t i = first; i < out.captures.size(); ++i) {
      if (out.captures[i].result == Scan::no_unit) rest.push_back(std::move(out.captures[i]));
    }
    out.captures = std::move(rest);
  }

  bool step(std::string_view& rest) {
    switch (rest[0]) {
      case '{':
        return rest.find('}') < rest.size() ? capture(rest) : one_character(rest);
      case '<':
        return rest.find('>') < rest.size() ? optional(rest) : one_character(rest);
      case '~':
      case '$':
        return skip_to(rest);
      case '@':
        rest.remove_prefix(1);
        skip_argument();
        skip_separators();
        if (text.gap(at) == Gap::line && words_follow("value:", at)) {  // "name: X", its value on the next line
          at += 6;
          skip_separators();
        }
        return true;
      case '&':
        rest.remove_prefix(1);
        return at >= text.size() || text.gap(at) == Gap::line;
      case '!':
        rest.remove_prefix(1);
        return skip_run();
      default:
        return one_character(rest);
    }
  }

  void skip_separators() {
    for (int i = 0; i < 8; ++i, ++at) {
      skip_prefix('-');
      if (!is_separator(text.at(at))) break;
    }
  }

  /// "memory_allocated(0) 318986240": of a call, where what it gave follows; no "(GB): 4.2" and no "(4.2 GB)".
  void skip_argument() {
    if (text.at(at) != '(') return;
    size_t close = at + 1;
    while (close < at + kArgument && text.at(close) != ')' && text.gap(close) != Gap::line) ++close;
    const SizeScan size = scan_size(text, at + 1, gigabyte);
    const bool unit = size.result == Scan::read || scan_unit(text, at + 1, gigabyte).end == close;
    if (text.at(close) != ')' || close == at + 1 || unit) return;
    size_t behind = close + 1;
    while (text.gap(behind) != Gap::line && is_separator(text.at(behind))) ++behind;
    if (text.gap(behind) != Gap::line && scan_number(text, behind).result != Scan::absent) at = close + 1;
  }

  /// ".....", "||||||" of a bar
  bool skip_run() {
    const char c = text.at(at);
    if (c != '.' && c != '|') return false;
    while (text.at(at) == c) ++at;
    return true;
  }

  static bool is_separator(char c) {
    return c != '\0' && std::string_view("'\":=,()|").find(c) != std::string_view::npos;
  }

  /// The end of the text inside words behind a figure is taken for their end.
  bool one_character(std::string_view& rest) {
    const bool named = matched >= literal + kCutWords || out.captures.size() > 1;  // more than a comma before the size
    if (at >= text.size() && captured && literal >= (named ? kCutWords : kCutSizeWords)) {
      rest.remove_prefix(1);
      return rest.find('{') == std::string_view::npos;
    }
    const char c = rest[0];
    if (c == '(' || c == '[' || behind_prefix_is(c) || lower_case(text.at(at)) != lower_case(c)) skip_prefix(c);
    if (c == '-' && at == dash_end && text.gap(at) != Gap::none) return false;  // of an option's two
    if (at >= text.size() || lower_case(text.at(at)) != lower_case(c)) return false;
    rest.remove_prefix(1);
    ++literal;
    ++matched;
    ++at;
    if (c == '-') dash_end = at;
    return true;
  }

  /// `"first half "` and on the next line `"second half"`: two strings of a source are one text.
  void skip_joint() {
    const char quote = text.at(at);
    if ((quote != '"' && quote != '\'') || text.gap(at + 1) != Gap::line) return;
    const size_t next = text.behind_prefix(at + 1);
    if (text.at(next) == quote) at = next + 1;
  }

  /// A message that goes on in the next line goes on behind what stands before each line; the dash of a list may be the
  /// message's own.
  void skip_prefix(char next = '\0') {
    if (matched > 0) skip_joint();
    if ((matched == 0 && !captured) || text.gap(at) != Gap::line) return;
    const size_t begin = at;
    for (size_t end = at; (end = text.behind_prefix(at)) > at && text.gap(at) == Gap::line;) at = end;
    if (next == '-' && at > begin && text.at(at) != '-' && text.at(at - 1) == '-') --at;
  }

  bool behind_prefix_is(char c) const {
    return text.gap(at) == Gap::line && lower_case(text.at(text.behind_prefix(at))) == lower_case(c);
  }

  bool optional(std::string_view& rest) {
    const size_t close = rest.find('>');
    const std::string_view inside = rest.substr(1, close - 1);
    rest.remove_prefix(close + 1);
    const size_t before = at, captures = out.captures.size();
    skip_prefix(inside.empty() ? '\0' : inside[0]);
    if (run(inside)) return true;
    at = before;
    out.captures.resize(captures);
    return true;
  }

  bool words_follow(std::string_view words, size_t from) const {
    for (const char c : words) {
      if (c == ' ') continue;
      if (lower_case(text.at(from)) != lower_case(c) && text.gap(from) == Gap::line) from = text.behind_prefix(from);
      if (lower_case(text.at(from)) != lower_case(c)) return false;
      ++from;
    }
    return true;
  }

  /// What follows one is another message: "Load weight end. ... -> Memory pool end."
  bool is_arrow(size_t i) const { return text.at(i) == '\xe2' && text.at(i + 1) == '\x86'; }

  /// To where the words behind the sign begin.
  bool skip_to(std::string_view& rest) {
    int lines = rest[0] == '$' ? 3 : 1;  // a terminal may have broken the one
    rest.remove_prefix(1);
    const std::string_view words = words_of(rest);
    for (size_t i = at; i < text.size() && i < at + kSkip; ++i) {
      if (i > at && text.gap(i) == Gap::line && lines-- == 0) return false;
      if (is_arrow(i)) return false;
      if (!words_follow(words, i)) continue;
      at = i;
      literal = 0;
      return true;
    }
    return false;
  }

  static std::string_view words_of(std::string_view rest) {
    size_t end = 0;
    while (end < rest.size() && !is_pattern_sign(rest[end])) ++end;
    return rest.substr(0, end);
  }

  bool capture(std::string_view& rest) {
    const size_t close = rest.find('}');
    const char kind = rest[1];
    std::string name(close > 3 ? rest.substr(3, close - 3) : std::string_view());
    rest.remove_prefix(close + 1);
    literal = 0;
    skip_prefix();
    if (kind == 'p') return capture_before(std::move(name));
    if (kind == 'm') return names_model() && capture_text('w', std::move(name), rest);
    if (kind == 'w' || kind == 't') return capture_text(kind, std::move(name), rest);
    if (kind == 'n' || kind == 'f') return capture_number(kind, std::move(name), rest);
    if (kind == 'L') return capture_list(name);
    return capture_size(kind, name, rest);
  }

  void keep(Capture capture) {
    at = capture.end;
    captured = true;
    if (!capture.name.empty()) out.captures.push_back(std::move(capture));
  }

  /// On the same line.
  bool capture_before(std::string name) {
    size_t begin = at;
    if (at == 0 || text.gap(at) == Gap::line) return false;
    do --begin;
    while (begin > 0 && at - begin < kWord && text.gap(begin) == Gap::none && word_character_before(begin));
    if (!word_character(text.at(begin))) return false;
    out.captures.push_back({std::move(name), CaptureKind::text, Scan::read, 0, 0, text.excerpt(begin, at), begin, at});
    return true;
  }

  bool word_character_before(size_t i) const {
    const char c = text.at(i - 1);
    return word_character(c) || c == '_' || c == '-';
  }

  /// "--block-size=512KiB" counts nothing.
  bool unit_follows(size_t end, std::string_view rest) const {
    skip_blanks(rest);
    const UnitScan unit = scan_unit(text, end, gigabyte);
    const bool printed = !rest.empty() && lower_case(rest[0]) == lower_case(text.at(end));
    return !printed && unit.bytes > 1 && unit.end > end + 1 && text.gap(end) == Gap::none;
  }

  /// A part in a hundred is none of what the row counts: "--max-batch-prefill-tokens" before a bar at "0%".
  bool capture_number(char kind, std::string name, std::string_view rest) {
    const NumberScan number = scan_number(text, at);
    const bool letter = text.gap(number.end) == Gap::none && is_letter(text.at(number.end));  // "1.5k"
    if (number.result == Scan::absent || (kind == 'n' && number.decimals > 0 && !letter)) return false;
    if (text.at(number.end) == '%' && text.gap(number.end) == Gap::none && rest.substr(0, 1) != "%") return false;
    if (kind == 'n' && unit_follows(number.end, rest)) return false;
    Capture found{std::move(name), CaptureKind::number, number.result, 0, number_value(number), "", at, number.end};
    if (kind == 'n') scale_count(found, rest);
    keep(std::move(found));
    return true;
  }

  /// "32k", "100K": a thousand, and 1024, as launchers read lengths; where the print itself has the letter it is none.
  void scale_count(Capture& found, std::string_view rest) const {
    const size_t letter = found.end;
    const bool ends = text.gap(letter) == Gap::none && text.gap(letter + 1) != Gap::none;
    const bool stops = std::string_view(",;)'\"\\]}").find(text.at(letter + 1)) != std::string_view::npos;
    skip_blanks(rest);
    if (text.gap(letter) != Gap::none || !(ends || stops)) return;
    if (!rest.empty() && lower_case(rest[0]) == lower_case(text.at(letter))) return;
    const char c = text.at(letter);
    const double scale = c == 'k' ? 1e3 : c == 'K' ? 1024 : c == 'm' ? 1e6 : c == 'M' ? 1024 * 1024 : 0;
    if (scale == 0) return;
    found.number *= scale;
    found.end = letter + 1;
  }

  /// A number that is bare in the tool's print may have its unit in somebody's own: "(max): 2 GB".
  bool unit_behind(std::string_view rest) const {
    skip_blanks(rest);
    if (!rest.empty() && is_letter(rest[0])) return false;
    const NumberScan number = scan_number(text, at);
    const bool on_line = number.result == Scan::read && (text.gap(number.end) != Gap::line || text.wrapped(number.end));
    return on_line && scan_size(text, at, gigabyte).result == Scan::read;
  }

  bool capture_size(char kind, const std::string& name, std::string_view rest = {}) {
    const bool sized =
        kind == 'S' || (std::string_view("MGDB").find(kind) != std::string_view::npos && unit_behind(rest));
    Capture found{name.empty() ? name : name + "_bytes", CaptureKind::bytes, Scan::read, 0, 0, "", at, at};
    if (kind == 'b' && unit_before(found)) {
      keep(std::move(found));
      return true;
    }
    if (sized) {
      const SizeScan size = scan_size(text, at, gigabyte);
      found.result = size.result;
      found.bytes = size.bytes;
      found.end = size.end;
    } else {
      scan_bare(kind, found);
    }
    if (found.result == Scan::absent) return false;
    if (found.result == Scan::no_unit && matched < kKnown) return false;
    const bool no_unit = found.result == Scan::no_unit;
    keep(std::move(found));
    return !no_unit;
  }

  /// "GB): 19.07"
  bool unit_before(Capture& found) const {
    const UnitScan unit = scan_unit(text, at, gigabyte);
    size_t behind = unit.end;
    while (behind < unit.end + 4 && (is_separator(text.at(behind)) || text.at(behind) == ']')) ++behind;
    const NumberScan number = scan_number(text, behind);
    if (unit.bytes == 0 || behind == unit.end || number.result == Scan::absent) return false;
    found.end = number.end;
    found.result = number_bytes(number, unit.bytes, found.bytes) ? Scan::read : Scan::too_large;
    return true;
  }

  /// A number whose unit stands elsewhere: in the table's head, or nowhere.
  void scan_bare(char kind, Capture& found) const {
    const NumberScan number = scan_number(text, at);
    const uint64_t unit = kind == 'M'   ? 1 << 20
                          : kind == 'G' ? 1 << 30
                          : kind == 'P' ? 4096
                          : kind == 'D' ? 1000000000
                                        : 1;
    found.result = number.result;
    if (number.result == Scan::absent) return;
    found.end = number.end;
    const bool bytes = kind == 'B' || kind == 'b';
    const bool small = kind == 'b' && number.digits > 0 && number.digits < kLeastBytes;
    if (bytes && (number.decimals > 0 || small)) {
      found.result = Scan::no_unit;
      return;
    }
    if (!number_bytes(number, unit, found.bytes)) found.result = Scan::too_large;
  }

  bool capture_list(const std::string& name) {
    const size_t before = out.captures.size();
    while (capture_size('S', name)) {
    }
    if (out.captures.size() > before && out.captures.back().result == Scan::no_unit) return false;
    return out.captures.size() > before;
  }

  /// "--model --port", "--model-impl", "--model $MODEL": an option, the rest of its name, a shell's variable.
  bool is_no_word(char kind, size_t i) const {
    const bool inside = i > 0 && text.gap(i) == Gap::none && word_character(text.at(i - 1));
    if (kind != 'w') return false;
    return text.at(i) == '-' || text.at(i) == '$' || (inside && (text.at(i) == '_' || is_letter(text.at(i))));
  }

  /// "vllm serve Qwen/Qwen3-8B", but not "vllm serve fails".
  bool names_model() const {
    for (size_t i = at; i < text.size() && (i == at || text.gap(i) == Gap::none); ++i) {
      if (text.at(i) == '/' || is_digit(text.at(i))) return true;
    }
    return false;
  }

  /// A cell ends there, or on the next line what stands in brackets.
  static bool ends_text(std::string_view words, char c, bool crossed) {
    return !words.empty() && words[0] == c && (c == '|' || (c == ')' && crossed));
  }

  /// A size, and what stands behind it in the row: of a text that it follows.
  bool size_ends(std::string_view rest, size_t end) const {
    if (rest.substr(0, 2) != "{S" || text.gap(end) == Gap::none) return false;
    const SizeScan size = scan_size(text, end, gigabyte);
    rest.remove_prefix(rest.find('}') + 1);
    skip_blanks(rest);
    return size.result == Scan::read && !rest.empty() && text.at(size.end) == rest[0];
  }

  bool capture_text(char kind, std::string name, std::string_view rest) {
    skip_blanks(rest);
    const std::string_view words = words_of(rest);
    if (is_no_word(kind, at)) return false;
    if (kind == 't' && text.at(at) == ':') return false;
    size_t end = at;
    bool crossed = false, closed = false;
    for (; end < text.size() && end < at + kWord; ++end) {
      closed = closed || (end > at && text.at(end - 1) == ')');
      const bool goes_on =
          text.gap(end) == Gap::none || (!words.empty() && !closed && text.wrapped(end) && !words_follow(words, end));
      if (end > at && text.gap(end) == Gap::line && !goes_on) break;
      if (kind == 'w' && end > at && !goes_on) break;
      if (kind == 'w' && std::string_view(",;|()\"'=[]{}<>").find(text.at(end)) != std::string_view::npos) break;
      if (kind == 't' && !words.empty() && words_follow(words, end)) break;
      if (kind == 't' && rest.substr(0, 2) == "{S") {
        if (text.at(end) == '|') return false;  // the end of its cell
        if (end > at && size_ends(rest, end)) break;
      }
      crossed = crossed || (end > at && text.gap(end) == Gap::line);
      if (kind == 't' && ends_text(words, text.at(end), crossed)) break;
    }
    while (kind == 'w' && end > at + 1 && text.at(end - 1) == '.') --end;  // of the sentence
    if (end == at) return false;
    Capture found{std::move(name), CaptureKind::text, Scan::read, 0, 0, text.excerpt(at, end), at, end};
    keep(std::move(found));
    return true;
  }
};

}  // namespace

bool is_pattern_sign(char c) { return std::string_view("{<>^~$@!&").find(c) != std::string_view::npos; }

bool inside_word(const LogText& text, size_t at) {
  if (at == 0 || text.gap(at) != Gap::none || !word_character(text.at(at))) return false;
  const char before = text.at(at - 1);
  return word_character(before) || (before == '.' && is_digit(text.at(at)));
}

RowMatch match_row(std::string_view pattern, Gigabyte gigabyte, const LogText& text, size_t at) {
  const bool flag = pattern.size() > 1 && pattern[0] == '-' && pattern[1] != ' ';
  if (flag && text.gap(at + 1) != Gap::none) return {};  // "- TP0]" of a list is no "-tp 0"
  Matcher matcher{pattern, text, gigabyte, at};
  matcher.out.matched = matcher.run(pattern) && matcher.at > at;
  matcher.out.end = matcher.at;
  return std::move(matcher.out);
}

}  // namespace vram
