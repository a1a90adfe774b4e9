#include "engine/advice/log/head_table.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "engine/advice/log/device_csv.h"
#include "engine/advice/log/label_name.h"
#include "engine/advice/log/number.h"
#include "engine/text.h"

namespace vram {
namespace {

constexpr const char* kTool = "table";
constexpr size_t kLongestRow = 4000, kMostRows = 64, kMostColumns = 32;
constexpr uint32_t kFirstMessage = kFirstTableMessage + (1u << 18);  // beyond those of tables with commas

/// Of the lines that a table may be: what stands between its bars.
std::vector<std::string_view> cells_of(std::string_view row) {
  std::vector<std::string_view> cells;
  row = trimmed(row);
  if (!row.empty() && row.front() == '|') row.remove_prefix(1);
  while (cells.size() <= kMostColumns) {
    size_t bar = row.find('|');
    while (bar != std::string_view::npos && bar > 0 && row[bar - 1] == '\\') bar = row.find('|', bar + 1);
    const std::string_view cell = trimmed(row.substr(0, bar));
    if (bar == std::string_view::npos) {
      if (!cell.empty()) cells.push_back(cell);
      return cells;
    }
    cells.push_back(cell);
    row.remove_prefix(bar + 1);
  }
  return cells;
}

/// "|---|:--:|", below the heads.
bool is_rule(const std::vector<std::string_view>& cells) {
  const auto dashes = [](std::string_view cell) {
    return cell.find('-') != std::string_view::npos && cell.find_first_not_of("-: ") == std::string_view::npos;
  };
  return cells.size() >= 2 && std::all_of(cells.begin(), cells.end(), dashes);
}

/// A head's words, and what they say alone.
struct Head {
  Name name;
  bool worded = false;  // "Before"
  bool named = false;   // a figure, or the state of one

  explicit Head(std::string_view cell) {
    const LogText text = prepare_log(std::string(cell) + " 0");  // the number that the head names
    name = NameReader{text, text.size() - 1}.read();
    worded = !name.words.empty();
    cut_time(name);
    const bool state = has(Says::allocated) || has(Says::reserved) || has(Says::active) || has(Says::cached);
    if (state) std::replace(name.words.begin(), name.words.end(), Says::used, Says::link);  // "peak usage"
    named = !std::string_view(what_of(name)).empty() && is_of_memory();
  }
  Head() = default;

  bool has(Says says) const { return name.has(says); }
  bool is_of_memory() const {
    const bool place = std::any_of(name.words.begin(), name.words.end(), is_place);
    return place || has(Says::memory) || has(Says::peak) || has(Says::rss);
  }
};

/// Without the words that say nothing of a size: those of a run, of a model, of a setting.
Name plain(Name name) {
  const auto is_empty = [](Says says) { return says == Says::nothing || says == Says::link || says == Says::other; };
  name.words.erase(std::remove_if(name.words.begin(), name.words.end(), is_empty), name.words.end());
  return name;
}

/// What the size is where two heads meet: one of them names it and the other says which run it is of, or each says a
/// part, "Peak (GB)" and "GPU memory".
std::string what_meets(const Head& column, const Head& row) {
  if (column.has(Says::apart) || row.has(Says::apart)) return "";
  if (column.named && row.named) return "";
  if (column.named) return what_of(column.name);
  if (row.named && column.worded) return what_of(row.name);
  if (column.has(Says::other) || row.has(Says::other)) return "";
  Name both = plain(column.name);
  for (const Says says : plain(row.name).words) both.words.push_back(says);
  const bool parts = !plain(column.name).words.empty() && !plain(row.name).words.empty();
  return parts ? what_of(both) : "";
}

/// A cell that is a size and nothing else: "34.2 GB", "34.2" below "(GB)", "34.2 GB (-12%)".
bool cell_size(std::string_view cell, uint64_t unit_bytes, int64_t& bytes) {
  const LogText text = prepare_log(cell);
  if (text.size() == 0 || !(is_digit(text.at(0)) || text.at(0) == '~')) return false;
  const NumberScan number = scan_number(text, 0);
  if (number.result != Scan::read) return false;
  const UnitScan unit = scan_unit(text, number.end, Gigabyte::binary);
  const size_t end = unit.bytes > 1 ? unit.end : number.end;
  const bool remark = text.at(end) == '(' && text.characters.find('%', end) != std::string::npos;
  if (end < text.size() && !remark) return false;
  return number_bytes(number, unit.bytes > 1 ? unit.bytes : unit_bytes, bytes);
}

struct Table {
  LogReading& reading;
  std::vector<Head> columns;
  size_t rows = 0;
  uint32_t message = kFirstMessage;

  void add(const std::string& what, std::string_view printed, int64_t bytes, uint32_t line) {
    reading.figures.push_back(table_size(what, bytes, printed, kTool, message, line));
  }

  void add_row(const std::vector<std::string_view>& cells, uint32_t line) {
    if (cells.size() != columns.size() || rows++ >= kMostRows) return columns.clear();
    const Head row(cells[0]);
    ++message;
    for (size_t i = 1; i < cells.size(); ++i) {
      const uint64_t unit = columns[i].name.unit_bytes > 0 ? columns[i].name.unit_bytes : row.name.unit_bytes;
      int64_t bytes = 0;
      if (!cell_size(cells[i], unit, bytes) || bytes < 1024) continue;
      const std::string what = what_meets(columns[i], row);
      if (!what.empty()) add(what, cells[i], bytes, line);
    }
  }
};

}  // namespace

void read_head_tables(const LogText& text, LogReading& reading) {
  const std::string_view all = text.characters;
  if (all.find("-|") == std::string_view::npos && all.find(":|") == std::string_view::npos) return;  // of a rule
  Table table{reading, {}};
  std::string last;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    bool bars = false;
    for (end = begin; end < text.size() && (end == begin || text.gap(end) != Gap::line); ++end) {
      bars = bars || text.at(end) == '|';
    }
    if (!bars || end - begin > kLongestRow) {
      table.columns.clear();
      last.clear();
      continue;
    }
    std::string row = text.excerpt(text.behind_prefix(begin), end);
    if (row.empty() || row[0] != '|') row = text.excerpt(begin, end);  // its first cell is no prefix
    const std::vector<std::string_view> cells = cells_of(row);
    const std::vector<std::string_view> heads = cells_of(last);
    if (is_rule(cells) && heads.size() == cells.size()) {
      table.rows = 0;
      table.columns.clear();
      for (const std::string_view head : heads) table.columns.emplace_back(head);
    } else if (!table.columns.empty()) {
      table.add_row(cells, text.lines[begin]);
    }
    last = std::move(row);
  }
}

}  // namespace vram
