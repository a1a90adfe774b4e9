#include "engine/advice/log/line_prefix.h"

#include <string_view>

#include "engine/advice/log/label_words.h"
#include "engine/text.h"

namespace vram {
namespace {

constexpr int kMostPieces = 10;
constexpr size_t kBracket = 80, kName = 60;

struct Pieces {
  const LogText& text;
  size_t begin;

  bool on_line(size_t at) const { return at < text.size() && (at == begin || text.gap(at) != Gap::line); }
  bool goes_on(size_t at) const { return at < text.size() && text.gap(at) == Gap::none; }

  /// "2025-09-01T12:00:00.123Z", "12:00:00,123", "09-01", "0.00.046.129".
  size_t time(size_t at) const {
    if (!is_digit(text.at(at))) return at;
    size_t end = at + 1;
    int separators = 0, slashes = 0;  // "2025/09/01"; one is of two numbers
    for (; goes_on(end) &&
           (is_digit(text.at(end)) || std::string_view("-:./TZ+,").find(text.at(end)) != std::string_view::npos);
         ++end) {
      separators += !is_digit(text.at(end)) && text.at(end) != ',';
      slashes += text.at(end) == '/';
    }
    const bool day = separators == 1 && end == at + 5 && text.at(at + 2) == '-';  // of a month
    return (separators >= 2 && slashes != 1) || day ? end : at;
  }

  /// "[rank3]", "(Worker_TP0 pid=26347)".
  size_t bracket(size_t at) const {
    if (const size_t end = process(at); end > at) return end;
    const char open = text.at(at), close = open == '[' ? ']' : ')';
    if ((open != '[' && open != '(') || is_digit(text.at(at + 1))) {
      return open == '[' && time(at + 1) > at + 1 ? closing(at, ']') : at;
    }
    return is_letter(text.at(at + 1)) ? closing(at, close) : at;
  }

  /// "[1,3]<stderr>:" of mpirun, "3: " of srun.
  size_t process(size_t at) const {
    const bool open = text.at(at) == '[';
    size_t end = digits(open ? at + 1 : at);
    if (end == (open ? at + 1 : at)) return at;
    if (!open && at == begin && text.at(end) == ':' && goes_on(end) && end < at + 6 && !goes_on(end + 1))
      return end + 1;
    if (!open || text.at(end) != ',' || digits(end + 1) == end + 1) return at;
    end = digits(end + 1);
    return text.at(end) == ']' && text.at(end + 1) == '<' ? closing(end + 1, '>') : at;
  }

  size_t digits(size_t at) const {
    while (is_digit(text.at(at)) && on_line(at)) ++at;
    return at;
  }

  size_t closing(size_t at, char close) const {
    for (size_t end = at + 1; on_line(end) && end < at + kBracket; ++end) {
      if (text.at(end) != close) continue;
      ++end;
      return text.at(end) == ':' && goes_on(end) ? end + 1 : end;
    }
    return at;
  }

  /// A message kept in a source file, or in a list of a text.
  static bool is_comment(std::string_view word) {
    constexpr std::string_view kMarks[] = {"#", "//", "*", "--", "%"};
    for (const std::string_view mark : kMarks) {
      if (word == mark) return true;
    }
    return false;
  }

  /// "INFO", "E", "Aug 08", "stderr": words that only a logger writes there.
  size_t word(size_t at) const {
    constexpr std::string_view kWords[] = {"info", "warning", "warn", "error",  "debug", "critical", "fatal", "jan",
                                           "feb",  "mar",     "apr",  "may",    "jun",   "jul",      "aug",   "sep",
                                           "oct",  "nov",     "dec",  "i",      "w",     "e",        "d",     "f",
                                           "p",    "-",       ">",    "stderr", "stdout"};
    size_t end = at;
    std::string found;
    while (end < text.size() && end < at + 8 && (end == at || goes_on(end)) && text.at(end) != ':') {
      found += lower_case(text.at(end++));
    }
    if (found[0] == '>') return at + 1;
    if (is_comment(found)) return end;
    if (found.size() == 1 && is_letter(found[0]) && text.at(at) == found[0]) return at;  // levels are capitals
    for (const std::string_view word : kWords) {
      if (found == word) return text.at(end) == ':' && goes_on(end) ? end + 1 : end;
    }
    const bool day =
        found.size() <= 2 && is_digit(found[0]) && is_digit(found.back()) && on_line(end) && time(end) > end;
    return day ? end : at;  // of "Aug 08 12:00:00"
  }

  /// "svc-1 |", "worker-0:", "python[1234]:".
  size_t name(size_t at) const {
    if (!is_letter(text.at(at))) return at;
    size_t end = at + 1;
    bool number = false;
    for (; goes_on(end) && end < at + kName &&
           (is_alphanumeric(text.at(end)) || std::string_view("_.-[]").find(text.at(end)) != std::string_view::npos);
         ++end) {
      number = number || is_digit(text.at(end));
    }
    if (text.at(end) == '|' && on_line(end)) return end + 1;
    if (is_place(meaning(text, at, end))) return at;  // "GPU0: 12.3/24.0GB"
    return number && text.at(end) == ':' && goes_on(end) && !goes_on(end + 1) ? end + 1 : at;
  }

  /// "root -" of "- root - INFO -".
  size_t logger(size_t at) const {
    if (at == begin || text.at(at - 1) != '-' || !is_letter(text.at(at))) return at;
    size_t end = at + 1;
    while (goes_on(end) && end < at + kName) ++end;
    return text.at(end) == '-' && on_line(end) && !goes_on(end + 1) ? end + 1 : at;
  }

  /// Behind a time: "jarvis ollama[1617]:".
  size_t host(size_t at) const {
    size_t end = at;
    while (on_line(end) && (end == at || goes_on(end)) && end < at + kName) ++end;
    return name(end) > end && text.at(name(end) - 1) == ':' ? end : at;
  }
};

size_t prefix_end(const Pieces& pieces) {
  const size_t begin = pieces.begin;
  size_t end = begin;
  bool timed = false;
  for (int i = 0; i < kMostPieces && pieces.on_line(end); ++i) {
    const size_t start = end;
    end = pieces.time(start);
    timed = timed || end > start;
    if (end == start) end = pieces.bracket(start);
    if (end == start) end = pieces.word(start);
    if (end == start) end = pieces.name(start);
    if (end == start && timed) end = pieces.logger(start);
    if (end == start && timed) end = pieces.host(start);
    if (end == start) break;
  }
  return pieces.on_line(end) || end > begin + 1 ? end : begin;
}

}  // namespace

std::vector<LinePrefix> find_prefixes(const LogText& text) {
  std::vector<LinePrefix> prefixes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.gap(i) != Gap::line) continue;
    const size_t end = prefix_end(Pieces{text, i});
    if (end > i) prefixes.push_back({i, end});
  }
  return prefixes;
}

}  // namespace vram
