#include "engine/advice/log/text.h"

#include <algorithm>

#include "engine/advice/log/line_prefix.h"
#include "engine/text.h"

namespace vram {
namespace {

constexpr size_t kHead = size_t{2} << 20, kTail = size_t{6} << 20;
constexpr size_t kNarrowest = 40;  // columns of a terminal that wraps

/// What an escape at the start of `text` stands for, and how long it is; no length: none is there.
struct Escape {
  size_t length = 0;
  char character = 0;  // 0: nothing
};

struct Entity {
  std::string_view name;
  char character;
};

constexpr Entity kEntities[] = {{"&lt;", '<'},   {"&gt;", '>'},   {"&amp;", '&'},
                                {"&quot;", '"'}, {"&nbsp;", ' '}, {"&apos;", '\''}};

Escape html_entity(std::string_view text) {
  for (const Entity& entity : kEntities) {
    if (text.substr(0, entity.name.size()) == entity.name) return {entity.name.size(), entity.character};
  }
  if (text.substr(0, 2) != "&#") return {};
  size_t end = 2;
  int code = 0;
  while (end < 6 && end < text.size() && is_digit(text[end])) code = code * 10 + (text[end++] - '0');
  if (end == 2 || end >= text.size() || text[end] != ';') return {};
  return {end + 1, code > 31 && code < 127 ? static_cast<char>(code) : ' '};
}

struct Tag {
  std::string_view name;
  char character;
};

constexpr Tag kTags[] = {{"br", '\n'}, {"pre", '\n'}, {"p", '\n'},   {"div", '\n'}, {"li", '\n'}, {"tr", '\n'},
                         {"td", ' '},  {"th", ' '},   {"code", 0},   {"span", 0},   {"font", 0},  {"b", 0},
                         {"i", 0},     {"em", 0},     {"strong", 0}, {"kbd", 0}};

/// Of a page's layout; "<module>", "<stderr>" are none.
Escape html_tag(std::string_view text) {
  const size_t name = text.substr(0, 2) == "</" ? 2 : 1;
  size_t end = name;
  while (end < text.size() && end < name + 7 && is_letter(text[end])) ++end;
  for (const Tag& tag : kTags) {
    if (text.substr(name, end - name) != tag.name) continue;
    const size_t close = text.substr(0, 200).find('>', end);
    const bool plain = end < text.size() && (text[end] == '>' || text[end] == '/' || text[end] == ' ');
    return plain && close != std::string_view::npos ? Escape{close + 1, tag.character} : Escape{};
  }
  return {};
}

/// "[32m" behind the escape character, which a paste may have lost.
size_t colour_length(std::string_view text) {
  if (text.size() < 3 || text[0] != '[') return 0;
  size_t end = 1;
  while (end < 12 && end < text.size() && (is_digit(text[end]) || text[end] == ';')) ++end;
  return end > 1 && end < text.size() && text[end] == 'm' ? end + 1 : 0;
}

/// A control sequence: colours, and what moves the cursor or clears the line.
Escape terminal_escape(std::string_view text) {
  for (const std::string_view lead : {"\x1b", "\\x1b", "\\u001b", "\\033"}) {
    if (text.substr(0, lead.size()) != lead) continue;
    size_t end = lead.size();
    if (end < text.size() && text[end] == '[') {
      for (++end; end < text.size() && end < 24 && !is_letter(text[end]);) ++end;
      if (end < text.size()) ++end;
    }
    return {end, 0};
  }
  return {colour_length(text), 0};
}

/// A command that a backslash continues on the next line.
bool continues_line(std::string_view text) {
  const size_t behind = text.find_first_not_of(" \t\r", 1);
  return behind != std::string_view::npos && text[behind] == '\n';
}

/// JSON's and Python's escapes: a log inside a string has them.
Escape string_escape(std::string_view text) {
  if (text.size() < 2 || text[0] != '\\') return {};
  if (continues_line(text)) return {1, 0};
  if (text[1] == 'n' || text[1] == 'r') return {2, '\n'};
  if (text[1] == 't') return {2, ' '};
  if (text[1] == '\\') return {1, 0};  // a string inside a string
  return text[1] == '"' || text[1] == '\'' ? Escape{2, text[1]} : Escape{};
}

/// Box drawing and blocks (U+2500 to U+259F), blanks that do not break, marks that are not seen (U+200B, U+FEFF),
/// quotes that a text editor bent, ASCII's signs and digits as a Chinese keyboard has them (U+FF01 to U+FF3F).
Escape wide_character(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0; };
  if (byte(0) == 0xe2 && byte(1) >= 0x94 && byte(1) <= 0x96) return {std::min<size_t>(3, text.size()), ' '};
  if (byte(0) == 0xe2 && byte(1) == 0x80) {
    if (byte(2) == 0xaf) return {3, ' '};
    if (byte(2) == 0x8b) return {3, 0};
    if (byte(2) == 0xa6) return {3, '.'};  // the three dots of something left out
    if (byte(2) == 0x98 || byte(2) == 0x99) return {3, '\''};
    if (byte(2) == 0x9c || byte(2) == 0x9d) return {3, '"'};
  }
  if (byte(0) == 0xef && byte(1) == 0xbb && byte(2) == 0xbf) return {3, 0};
  if (byte(0) == 0xef && byte(1) == 0xbc && byte(2) > 0x80) return {3, static_cast<char>(byte(2) - 0x60)};
  if (byte(0) == 0xc2 && byte(1) == 0xa0) return {2, ' '};
  return {};
}

Escape escape(std::string_view text) {
  switch (text[0]) {
    case '&':
      return html_entity(text);
    case '<':
      return html_tag(text);
    case '[':
    case '\x1b':
      return terminal_escape(text);
    case '\\': {
      const Escape colour = terminal_escape(text);
      return colour.length > 0 ? colour : string_escape(text);
    }
    case '\xe2':
    case '\xc2':
    case '\xef':
      return wide_character(text);
    default:
      return {};
  }
}

/// "2025-09-01", "2025-Sep-01", "09-01 12:00", "12:00:05", "0.00.046.129": no number goes on so.
bool time_begins(const LogText& text, size_t at) {
  const auto digits = [&](size_t from) {
    while (is_digit(text.at(from)) && (from == at || text.gap(from) != Gap::line)) ++from;
    return from;
  };
  const size_t end = digits(at);
  const char sign = text.gap(end) == Gap::none ? text.at(end) : '\0';
  if (end - at == 4 && sign == '-' && is_letter(text.at(end + 1))) return true;  // of a year
  if (sign == ':') return true;
  const size_t next = digits(end + 1);
  return next > end + 1 && (text.at(next) == sign || (sign == '-' && text.at(next) == ':'));
}

/// The end of a line that had so many columns; `next`: the character behind it.
struct LineEnd {
  size_t next = 0;
  size_t columns = 0;
};

struct Builder {
  LogText out;
  Gap gap = Gap::line;
  uint32_t line = 1;
  size_t column = 0, columns = 0;  // on this line; of the last
  bool in_bold = false;            // "**Total:** 12"
  int bars = 0;               // on this line: of two on, it is a table's row, whose cells may have lines of their own
  size_t width = 0;           // columns of the longest line
  std::vector<LineEnd> ends;  // of lines that the next one may continue: it is not indented

  void end_line() {
    if (!ends.empty() && ends.back().next == out.characters.size()) ends.pop_back();  // the line had marks alone
    columns = column;
    width = std::max(width, column);
    column = 0;
    ++line;
  }

  /// UTF-16 has a zero beside each character.
  void add(char c) {
    if (c == '\0') return;
    if (c == '\n' || c == '\r') {
      gap = Gap::line;
      if (c == '\n') end_line();
      return;
    }
    if (gap == Gap::line && column == 0 && c != ' ' && c != '\t') ends.push_back({out.characters.size(), columns});
    if (gap == Gap::line) bars = 0;
    if (c == '|') ++bars;
    if ((c & 0xc0) != 0x80) ++column;
    if (c == '`') return;
    if (c == ' ' || static_cast<unsigned char>(c) < 0x20) {
      gap = std::max(gap, Gap::blank);
    } else {
      out.characters += c;
      out.gaps.push_back(gap);
      out.lines.push_back(line);
      gap = Gap::none;
    }
  }

  /// True where the line before was full, so that a terminal may have broken it.
  bool full(const LineEnd& end) const {
    const size_t at = end.next;
    const bool wide = end.columns == width && width >= kNarrowest;
    return wide && at > 0 && at < out.size() && out.gaps[at] == Gap::line && out.behind_prefix(at) == at;
  }

  /// Inside a number: digits stand on both sides.
  bool broken_number(size_t at) const {
    const std::string& text = out.characters;
    const bool before = is_digit(text[at - 1]) || (text[at - 1] == '.' && at > 1 && is_digit(text[at - 2]));
    const bool behind = is_digit(text[at]) || (text[at] == '.' && at + 1 < text.size() && is_digit(text[at + 1]));
    return before && behind && !time_begins(out, at);
  }

  void finish() {
    end_line();
    out.prefixes = find_prefixes(out);
    for (const LineEnd& end : ends) {
      if (!full(end)) continue;
      out.wraps.push_back(end.next);
      if (broken_number(end.next)) out.gaps[end.next] = Gap::broken;
    }
  }

  /// Markdown's bold: two stars with a word on one side. "2**30" is a power, "/***/" hides a name.
  bool bold_begins(std::string_view text) const {
    if (text.substr(0, 2) != "**" || out.characters.empty()) return text.substr(0, 2) == "**";
    const char before = gap == Gap::none ? out.characters.back() : ' ', behind = text.size() > 2 ? text[2] : ' ';
    if (before == '*' || behind == '*') return false;
    return is_alphanumeric(before) != is_alphanumeric(behind) || (in_bold && before == ':');
  }

  void add(std::string_view text) {
    while (!text.empty()) {
      const bool bold = text[0] == '*' && bold_begins(text);
      const Escape found = bold ? Escape{2, 0} : escape(text);
      if (bold) column += 2;
      in_bold = bold ? !in_bold : in_bold && text[0] != '\n';
      if (text[0] == '\\' && continues_line(text)) out.continued.push_back(out.size());
      if (found.length == 0) {
        add(text[0]);
        text.remove_prefix(1);
      } else {
        const bool cell = bars > 1 && gap != Gap::line && text[0] == '<' && found.character == '\n';
        if (found.character != 0) add(cell ? ' ' : found.character);
        text.remove_prefix(found.length);
      }
    }
  }
};

constexpr size_t kLine = size_t{64} << 10;  // a longer one is cut where it is

/// Behind the last line that ends before `at`: half a number is none.
size_t end_of_line(std::string_view log, size_t at) {
  const size_t found = log.rfind('\n', at - 1);
  return found != std::string_view::npos && at - found < kLine ? found + 1 : at;
}

size_t begin_of_line(std::string_view log, size_t at) {
  const size_t found = log.find('\n', at);
  return found != std::string_view::npos && found - at < kLine ? found + 1 : at;
}

}  // namespace

size_t LogText::behind_prefix(size_t i) const {
  const auto found = std::lower_bound(prefixes.begin(), prefixes.end(), i,
                                      [](const LinePrefix& prefix, size_t at) { return prefix.begin < at; });
  return found != prefixes.end() && found->begin == i ? found->end : i;
}

bool LogText::wrapped(size_t i) const { return std::binary_search(wraps.begin(), wraps.end(), i); }

size_t LogText::prefix_before(size_t i) const {
  const auto next = std::upper_bound(prefixes.begin(), prefixes.end(), i,
                                     [](size_t at, const LinePrefix& prefix) { return at < prefix.begin; });
  return next != prefixes.begin() && std::prev(next)->end <= i ? std::prev(next)->end : 0;
}

bool LogText::begins_line(size_t i) const { return gap(i) == Gap::line || prefix_before(i) == i; }

std::string LogText::excerpt(size_t begin, size_t end) const {
  std::string text;
  for (size_t i = begin; i < std::min(end, size()); ++i) {
    if (i > begin && gaps[i] != Gap::none && !wrapped(i)) text += ' ';
    text += characters[i];
  }
  return text;
}

LogText prepare_log(std::string_view log) {
  Builder builder;
  const size_t length = std::min(log.size(), kHead + kTail);
  builder.out.characters.reserve(length);
  builder.out.gaps.reserve(length);
  builder.out.lines.reserve(length);
  if (log.size() <= kHead + kTail) {
    builder.add(log);
  } else {
    const size_t head = end_of_line(log, kHead), tail = begin_of_line(log, log.size() - kTail);
    builder.add(log.substr(0, head));
    builder.out.left_out = tail - head;
    builder.line += static_cast<uint32_t>(
        std::count(log.begin() + static_cast<ptrdiff_t>(head), log.begin() + static_cast<ptrdiff_t>(tail), '\n'));
    builder.add('\n');
    builder.add(log.substr(tail));
  }
  builder.finish();
  return std::move(builder.out);
}

}  // namespace vram
