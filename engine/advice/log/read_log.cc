#include "engine/advice/log/read_log.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/advice/log/command_line.h"
#include "engine/advice/log/derive.h"
#include "engine/advice/log/device_csv.h"
#include "engine/advice/log/free_table.h"
#include "engine/advice/log/head_table.h"
#include "engine/advice/log/label.h"
#include "engine/advice/log/part_label.h"
#include "engine/advice/log/row_index.h"
#include "engine/advice/log/slurm_table.h"
#include "engine/advice/log/started_with.h"
#include "engine/advice/log/windows.h"
#include "engine/text.h"
#include "engine/units.h"

namespace vram {
namespace {

constexpr size_t kFirstKept = 16, kLastKept = 48;  // of each figure, where a log prints it at every step
constexpr size_t kMostGaps = 64, kMostFigures = 20000;
constexpr const char* kUnknown = "bytes";
constexpr const char* kOwnWords = "PyTorch print";      // a size that a print of the user's own names
constexpr const char* kOwnSummary = "server summary";   // a part of a server's memory that people name
constexpr uint32_t kNear = 12;                          // lines of one summary
constexpr size_t kMostUnknown = 12, kWordsBefore = 32;  // sizes in no known message; characters shown before one

/// Of what a log prints at every step, the first and the last.
void thin_out(LogReading& reading) {
  std::map<std::string, size_t, std::less<>> total, seen;
  for (const LogFigure& figure : reading.figures) ++total[figure.what];
  std::vector<LogFigure> kept;
  for (LogFigure& figure : reading.figures) {
    const size_t number = seen[figure.what]++, all = total[figure.what];
    if (number < kFirstKept || number + kLastKept >= all) kept.push_back(std::move(figure));
  }
  reading.left_out_figures += reading.figures.size() - kept.size();
  reading.figures = std::move(kept);
}

const char* reason(Scan result) {
  return result == Scan::no_unit ? "its unit is missing" : "more than 2^63 bytes: no limit, or an overflow";
}

struct Reader {
  const LogText& text;
  LogReading out;
  const char* tool = "";
  uint32_t message = 0;
  uint32_t prefix_line = 0;  // where the rank was named
  int prefix_rank = -1;
  const char* prefix_name = "rank";
  std::vector<int> devices, ranks;   // by message; -1: not named
  size_t unknown = 0, last_gap = 0;  // behind the beginning of the last one, which another row may find again
  uint32_t known_line = 0;           // the last on which a message was known
  std::vector<LogFigure> weak;       // parts that a file may have, too
  uint32_t part_line = 0;            // the last that was asked whether it names a part
  bool names_part = false;

  void begin_message(const char* of) {
    tool = of;
    ++message;
    devices.resize(message + 1, -1);
    ranks.resize(message + 1, -1);
  }

  void add_gap(const Capture& capture, const std::string& why) {
    if (out.gaps.size() >= kMostGaps || capture.begin + 1 == last_gap) return;
    last_gap = capture.begin + 1;
    out.gaps.push_back({capture.name, text.excerpt(capture.begin, capture.end), why, line(capture.begin)});
  }

  uint32_t line(size_t at) const { return at < text.size() ? text.lines[at] : 1; }

  LogFigure figure(std::string what, CaptureKind kind, size_t at) const {
    LogFigure made;
    made.what = std::move(what);
    made.kind = kind;
    made.tool = tool;
    made.message = message;
    made.line = line(at);
    return made;
  }

  void add_size(const std::string& what, int64_t bytes, size_t at, size_t end) {
    LogFigure made = figure(what, CaptureKind::bytes, at);
    made.bytes = bytes;
    made.printed = text.excerpt(at, end);
    out.figures.push_back(std::move(made));
  }

  /// A size that no message known here states, but its own words do.
  size_t add_labelled(size_t at) {
    const LabelledSize size = scan_labelled(text, at);
    if (size.what.empty()) return add_part(at);
    if (std::string_view(tool) != kOwnWords || other_rank(at)) begin_message(kOwnWords);
    add_prefix(at);
    add_size(size.what, size.bytes, at, size.end);
    if (!size.of_what.empty()) add_size(size.of_what, size.of_bytes, at, size.end);
    known_line = line(at);
    return size.end;
  }

  /// "14.9 GiB", "512 tokens": a cheap look, since most numbers are neither.
  bool unit_may_follow(size_t at) const {
    while (is_digit(text.at(at)) || text.at(at) == '.' || text.at(at) == ',') ++at;
    const char c = lower_case(text.at(at));
    return c == 'g' || c == 'm' || c == 't' || c == 'k';
  }

  /// A part of a server's memory in a summary of people's own.
  size_t add_part(size_t at) {
    if (!unit_may_follow(at)) return at;
    if (part_line != line(at)) names_part = line_names_part(text, at);
    part_line = line(at);
    if (!names_part) return at;
    const PartSize part = scan_part(text, at);
    if (part.what[0] == 0) return at;
    if (std::string_view(tool) != kOwnSummary || other_rank(at)) begin_message(kOwnSummary);
    LogFigure made = figure(part.what, part.tokens ? CaptureKind::number : CaptureKind::bytes, at);
    if (part.tokens) made.number = static_cast<double>(part.value);
    if (!part.tokens) made.bytes = part.value;
    made.printed = text.excerpt(at, part.end);
    (part.weak ? weak : out.figures).push_back(std::move(made));
    known_line = line(at);
    return part.end;
  }

  /// "weights: 14.9 GiB" is of a run where a part stands near that no file has; else it is told as unread.
  void confirm_weak() {
    constexpr std::string_view kStrong[] = {"kv_bytes",        "kv_tokens",       "kv_by_device", "activation_bytes",
                                            "non_torch_bytes", "cudagraph_bytes", "compute_bytes"};
    const size_t strong = out.figures.size();
    for (LogFigure& made : weak) {
      const auto confirms = [&](const LogFigure& other) {
        const uint32_t apart = std::max(other.line, made.line) - std::min(other.line, made.line);
        return apart <= kNear && std::find(std::begin(kStrong), std::end(kStrong), other.what) != std::end(kStrong);
      };
      const auto end = out.figures.begin() + static_cast<ptrdiff_t>(strong);
      if (std::any_of(out.figures.begin(), end, confirms)) {
        out.figures.push_back(std::move(made));
      } else if (out.gaps.size() < kMostGaps) {
        out.gaps.push_back({kUnknown, made.printed, "no message known here", made.line});
      }
    }
  }

  /// One that nothing names: told, since it may be the one that matters.
  size_t add_unknown(size_t at) {
    const bool inside = at > 0 && text.gap(at) == Gap::none && inside_token(text.at(at - 1));
    if (inside) return at + 1;
    if (const size_t end = add_labelled(at); end > at) return end;
    if (line(at) == known_line || unknown >= kMostUnknown) return at + 1;
    const SizeScan size = scan_size(text, at, Gigabyte::binary);
    const char last = size.end > at ? lower_case(text.at(size.end - 1)) : '\0';
    const bool unit = size.result == Scan::read && last == 'b' && is_letter(text.at(size.end - 2));
    if (!unit || text.at(size.end) == '/' || size.bytes < 1 << 10) return unit ? size.end : at + 1;
    size_t begin = at;
    while (begin > 0 && at - begin < kWordsBefore && text.lines[begin - 1] == text.lines[at]) --begin;
    if (at - begin == kWordsBefore)  // from a whole word on
      while (begin < at && text.gap(begin) == Gap::none) ++begin;
    out.gaps.push_back({kUnknown, text.excerpt(begin, size.end), "no message known here", line(at)});
    ++unknown;
    return size.end;
  }

  static bool inside_token(char before) {
    return is_alphanumeric(before) || before == '.' || before == '-' || before == '_' || before == '/';
  }

  /// "resource=host;code=1455"
  void add_sayings(std::string_view says, size_t at) {
    while (!says.empty()) {
      const std::string_view one = says.substr(0, says.find(';'));
      says.remove_prefix(std::min(says.size(), one.size() + 1));
      const size_t equals = one.find('=');
      const std::string name(one.substr(0, equals)), value(one.substr(equals + 1));
      if (name == "unread") {
        out.gaps.push_back({value, "", "the tool does not say", line(at)});
        continue;
      }
      const bool number = !value.empty() && (is_digit(value[0]) || value[0] == '-');
      LogFigure said = figure(name, number ? CaptureKind::number : CaptureKind::text, at);
      if (number) said.number = read_number(value).value_or(0);
      said.text = value;
      out.figures.push_back(std::move(said));
    }
  }

  /// "weights_bytes" of a buffer is "weights_by_device".
  static std::string by_device(const Capture& capture) {
    if (capture.kind != CaptureKind::bytes) return capture.name;
    return capture.name.substr(0, capture.name.size() - 6) + "_by_device";
  }

  void note_place(const Capture& capture) {
    if (capture.name == "device") devices[message] = static_cast<int>(capture.number);
    if (capture.name == "rank" || capture.name == "tp_rank") ranks[message] = static_cast<int>(capture.number);
  }

  /// Where ranks write by turns, what each says is a message of its own.
  bool other_rank(size_t at) const {
    return prefix_rank >= 0 && prefix_line == line(at) && ranks[message] >= 0 && ranks[message] != prefix_rank;
  }

  /// The rank that the start of this line named.
  void add_prefix(size_t at) {
    if (prefix_rank < 0 || prefix_line != line(at) || ranks[message] >= 0) return;
    ranks[message] = prefix_rank;
    LogFigure rank = figure(prefix_name, CaptureKind::number, at);
    rank.number = prefix_rank;
    out.figures.push_back(std::move(rank));
  }

  static bool is_of_program(const Candidate& candidate) {
    return candidate.row->role == RowRole::prefix || candidate.row->role == RowRole::words;
  }

  void take(const Candidate& candidate, const RowMatch& match, size_t at) {
    if (is_of_program(candidate)) {
      if (out.program[0] == 0) out.program = candidate.family->tool;
      for (const Capture& capture : match.captures) {
        prefix_rank = static_cast<int>(capture.number);
        prefix_name = capture.name == "tp_rank" ? "tp_rank" : "rank";
        prefix_line = line(at);
      }
      return;
    }
    const bool other_tool = std::string_view(tool) != candidate.family->tool;
    if (candidate.row->role == RowRole::starts || other_tool || message == 0 || other_rank(at)) {
      begin_message(candidate.family->tool);
    }
    add_prefix(at);
    std::string on;
    for (const Capture& capture : match.captures) {
      if (capture.name == "on") on = capture.text;
    }
    for (const Capture& capture : match.captures) add_capture(capture, on);
    add_sayings(candidate.row->says, at);
    if (out.figures.size() > kMostFigures) thin_out(out);
  }

  void add_capture(const Capture& capture, const std::string& on) {
    if (capture.result != Scan::read) return add_gap(capture, reason(capture.result));
    if (capture.name == "on") return;
    note_place(capture);
    LogFigure made = figure(on.empty() ? capture.name : by_device(capture), capture.kind, capture.begin);
    made.bytes = capture.bytes;
    made.number = capture.number;
    made.text = capture.text;
    made.printed = text.excerpt(capture.begin, capture.end);
    made.on = on;
    out.figures.push_back(std::move(made));
  }

  /// A line that says no more than "Killed": a shell's word of a process that the kernel ended.
  size_t killed_line() const {
    constexpr std::string_view kWord = "Killed";
    for (size_t at = text.characters.find(kWord); at != std::string::npos; at = text.characters.find(kWord, at + 1)) {
      if (text.begins_line(at) && text.gap(at + kWord.size()) == Gap::line) return at;
    }
    return text.size();
  }

  /// "Out of memory" in words of no known message, where nothing else was read.
  void add_bare_failure() {
    if (!out.figures.empty()) return;
    constexpr std::string_view kWords = "outofmemory";
    const auto same = [](char a, char b) { return lower_case(a) == b; };
    const auto found = std::search(text.characters.begin(), text.characters.end(), kWords.begin(), kWords.end(), same);
    if (found != text.characters.end()) add_sayings("oom=1", static_cast<size_t>(found - text.characters.begin()));
    if (found == text.characters.end() && killed_line() < text.size()) add_sayings("resource=host", killed_line());
  }

  /// Behind a word of the same line.
  bool goes_on(size_t at) const { return !text.begins_line(at) && is_alphanumeric(text.at(at - 1)); }

  bool of_this_program(const Candidate* candidate) const {
    return candidate != nullptr && std::string_view(candidate->family->tool) == out.program;
  }

  /// Of two rows that say as much, the one of the program whose log it is: "--max-total-tokens" is TGI's and SGLang's.
  bool says_more(const Candidate* candidate, const RowMatch& match, const Candidate* of, const RowMatch& best) const {
    if (!match.matched || match.end < best.end) return false;
    return match.end > best.end || (of_this_program(candidate) && !of_this_program(of));
  }

  /// Reads what begins at a position, by the row that says the most of it; where reading goes on.
  size_t read_at(const RowIndex& index, size_t at) {
    const RowBegin begin(text, at);
    RowMatch best, near_miss;
    const Candidate* of = nullptr;
    size_t from = 0;
    while (const Candidate* candidate = index.next(begin, from)) {
      if (candidate->row->role == RowRole::phrase && goes_on(at)) continue;
      RowMatch match = match_row(candidate->pattern, candidate->family->gigabyte, text, at);
      if (says_more(candidate, match, of, best)) {
        best = std::move(match);
        of = candidate;
      } else if (near_miss.captures.empty() && candidate->row->role != RowRole::loose) {
        near_miss = std::move(match);
      }
    }
    if (of != nullptr) {
      take(*of, best, at);
      if (!is_of_program(*of)) known_line = line(best.end - 1);
      const bool border = of->pattern.back() == '|' && text.at(best.end - 1) == '|';  // the next cell's, too
      return border ? std::max(at + 1, best.end - 1) : best.end;
    }
    for (const Capture& capture : near_miss.captures) {
      if (capture.result == Scan::no_unit) add_gap(capture, reason(capture.result));
    }
    return is_digit(text.at(at)) ? add_unknown(at) : at + 1;
  }

  void read() {
    const RowIndex index;
    for (size_t at = 0; at < text.size();) at = inside_word(text, at) ? at + 1 : read_at(index, at);
    confirm_weak();
    add_bare_failure();
    for (LogFigure& made : out.figures) {
      made.device = devices[made.message];
      made.rank = ranks[made.message];
    }
  }
};

/// What was seen on the lines of a table before it was read as one.
void forget_known(LogReading& reading) {
  std::set<uint32_t> known;
  for (const LogFigure& figure : reading.figures) {
    if (figure.message >= kFirstTableMessage) known.insert(figure.line);
  }
  const auto is_known = [&](const LogGap& gap) { return gap.what == kUnknown && known.count(gap.line) > 0; };
  reading.gaps.erase(std::remove_if(reading.gaps.begin(), reading.gaps.end(), is_known), reading.gaps.end());
  const auto is_read = [&](const LogFigure& figure) {
    return std::string_view(figure.tool) == kOwnWords && known.count(figure.line) > 0;
  };
  reading.figures.erase(std::remove_if(reading.figures.begin(), reading.figures.end(), is_read), reading.figures.end());
}

}  // namespace

LogReading read_log(std::string_view log) {
  const LogText text = prepare_log(log);
  Reader reader{text, {}};
  reader.devices.assign(1, -1);
  reader.ranks.assign(1, -1);
  reader.read();
  LogReading reading = std::move(reader.out);
  reading.left_out_bytes = text.left_out;
  reading.fixed_segments = segments_are_fixed(log);
  read_device_csv(text, reading);
  read_head_tables(text, reading);
  read_free_tables(text, reading);
  read_slurm_tables(text, reading);
  read_commands(text, reading);
  reading.command = started_with(text);
  forget_known(reading);
  derive_figures(reading);
  thin_out(reading);
  return reading;
}

}  // namespace vram
