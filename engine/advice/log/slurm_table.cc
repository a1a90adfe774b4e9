#include "engine/advice/log/slurm_table.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "engine/advice/log/device_csv.h"
#include "engine/advice/log/number.h"
#include "engine/text.h"

namespace vram {
namespace {

constexpr std::string_view kPeak = "MaxRSS", kAsked = "ReqMem";
constexpr std::array<std::string_view, 6> kSizes = {"MaxRSS", "AveRSS", "MaxVMSize", "AveVMSize", "ReqMem", "MaxPages"};
constexpr uint32_t kFirstMessage = kFirstTableMessage + (3u << 18);
constexpr size_t kMostRows = 64, kLongestLine = 1000;

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words(1);
  for (const char c : line) {
    if (c != ' ' && c != '|') {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// "1380K", "4Gn" of each node; "4000Mc" is of each core, and says nothing alone.
struct Size {
  bool is_size = false;
  int64_t bytes = 0;  // 0: not known

  explicit Size(const std::string& word) {
    const LogText text = prepare_log(word);
    const NumberScan number = scan_number(text, 0);
    if (number.result != Scan::read || number.end >= word.size() || text.size() != word.size()) return;
    constexpr std::string_view kUnits = "KMGT";
    const size_t unit = kUnits.find(word[number.end]);
    const std::string_view each = std::string_view(word).substr(number.end + 1);
    is_size = unit != std::string_view::npos && (each.empty() || each == "n" || each == "c");
    if (is_size && each != "c") (void)number_bytes(number, uint64_t{1} << (10 * (unit + 1)), bytes);
  }
};

struct Table {
  LogReading& reading;
  std::vector<std::string_view> columns;  // those of sizes
  std::string asked;                      // by the job before

  bool is_asked(const std::string& word) const { return word == asked || word.back() == 'n' || word.back() == 'c'; }

  void add(std::string_view column, const std::string& printed, int64_t bytes, uint32_t line) {
    if (bytes < 1 << 20 || (column != kPeak && column != kAsked)) return;
    const char* what = column == kPeak ? "host_peak_bytes" : "host_limit_bytes";
    reading.figures.push_back(table_size(what, bytes, printed, "Slurm", kFirstMessage + line, line));
  }

  void add_row(const std::vector<std::string>& words, uint32_t line) {
    std::vector<std::pair<const std::string*, Size>> sizes;
    for (const std::string& word : words) {
      const Size size(word);
      if (size.is_size || (word == "0" && columns.size() > 1)) sizes.emplace_back(&word, size);
    }
    std::vector<std::string_view> heads = columns;
    if (sizes.size() != heads.size()) {  // since 21.08 a job has what it asked for, and its steps what they used
      const bool is_step = words[0].find('.') != std::string::npos;
      std::erase_if(heads, [&](std::string_view head) { return (head == kAsked) == is_step; });
      const auto asks = [&](const auto& size) { return is_asked(*size.first); };
      if (is_step && std::any_of(sizes.begin(), sizes.end(), asks)) return;  // what it used is missing
    }
    if (sizes.size() != heads.size()) return;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (heads[i] == kAsked) asked = *sizes[i].first;
      add(heads[i], *sizes[i].first, sizes[i].second.bytes, line);
    }
  }

  /// True where the columns are those of sacct.
  bool take_heads(const std::vector<std::string>& words) {
    columns.clear();
    for (const std::string& word : words) {
      const auto found = std::find(kSizes.begin(), kSizes.end(), word);
      if (found != kSizes.end()) columns.push_back(*found);
    }
    return words.size() > columns.size();
  }
};

/// Of the log's own lines: a time's end and a job's number below it look like a number that a terminal broke.
size_t line_end(const LogText& text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && text.lines[end] == text.lines[at]) ++end;
  return std::min(end, at + kLongestLine);
}

/// Behind what a logger puts before it; a job's number before a bar is no such thing.
std::string row_at(const LogText& text, size_t begin, size_t end) {
  return text.excerpt(is_digit(text.at(begin)) ? begin : text.behind_prefix(begin), end);
}

bool is_rule(const std::string& line) { return line.find_first_not_of("- ") == std::string::npos; }

void read_table(const LogText& text, size_t found, LogReading& reading) {
  size_t begin = found;
  while (begin > 0 && text.lines[begin - 1] == text.lines[found] && found - begin < kLongestLine) --begin;
  size_t end = line_end(text, begin);
  const std::string head = text.excerpt(begin, end);
  const bool bars = head.find('|') != std::string::npos;
  Table table{reading, {}};
  if (head.find("Job") == std::string::npos || !table.take_heads(words_of(head))) return;
  for (size_t row = 0; row < kMostRows && end < text.size(); ++row) {
    begin = end;
    end = line_end(text, begin);
    const std::string line = row_at(text, begin, end);
    if (row == 0 && is_rule(line)) continue;
    if (row == 0 && !bars) return;  // sacct -p has no rule
    const std::vector<std::string> words = words_of(line);
    if (words.empty() || !is_digit(words[0][0])) return;  // a job's number begins each
    table.add_row(words, text.lines[begin]);
  }
}

}  // namespace

void read_slurm_tables(const LogText& text, LogReading& reading) {
  constexpr size_t kMost = 16;
  size_t count = 0;
  for (size_t at = text.characters.find(kPeak); at != std::string::npos && count < kMost; ++count) {
    read_table(text, at, reading);
    at = text.characters.find(kPeak, at + kPeak.size());
  }
}

}  // namespace vram
