#include "engine/advice/log/device_csv.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "engine/text.h"
#include "engine/units.h"

namespace vram {
namespace {

constexpr size_t kOneColumn = 28;  // characters of a head that is a table of one column
constexpr size_t kLongestRow = 2000, kMostRows = 256;

enum class Kind : uint8_t { bytes, name, device };

struct Column {
  std::string_view head;  // without blanks, in small letters
  const char* what;
  uint64_t unit_bytes;
  const char* tool;
  Kind kind = Kind::bytes;
};

constexpr std::string_view kAllHeads = "emory";  // of a column of sizes: "memory.total", "VRAM Total Memory"
constexpr uint64_t kMi = 1 << 20;
constexpr Column kColumns[] = {{"memory.total[mib]", "total_bytes", kMi, "nvidia-smi"},
                               {"memory.used[mib]", "used_bytes", kMi, "nvidia-smi"},
                               {"memory.free[mib]", "free_bytes", kMi, "nvidia-smi"},
                               {"memory.reserved[mib]", "driver_reserved_bytes", kMi, "nvidia-smi"},
                               {"used_gpu_memory[mib]", "process_list_bytes", kMi, "nvidia-smi"},
                               {"used_memory[mib]", "process_list_bytes", kMi, "nvidia-smi"},
                               {"name", "gpu_name", 1, "nvidia-smi", Kind::name},
                               {"index", "device", 1, "nvidia-smi", Kind::device},
                               {"cardseries", "gpu_name", 1, "rocm-smi", Kind::name},
                               {"vramtotalmemory(b)", "total_bytes", 1, "rocm-smi"},
                               {"vramtotalusedmemory(b)", "used_bytes", 1, "rocm-smi"}};

std::string squeezed(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      out += lower_case(c);
    }
  }
  return out;
}

std::vector<std::string_view> cells(std::string_view row) {
  std::vector<std::string_view> out;
  while (true) {
    const size_t comma = row.find(',');
    out.push_back(row.substr(0, comma));
    if (comma == std::string_view::npos) return out;
    row.remove_prefix(comma + 1);
  }
}

const Column* find_column(std::string_view cell) {
  const std::string head = squeezed(cell);
  const auto found =
      std::find_if(std::begin(kColumns), std::end(kColumns), [&](const Column& column) { return column.head == head; });
  return found == std::end(kColumns) ? nullptr : found;
}

/// The columns of a head; empty for any other row.
std::vector<const Column*> read_head(std::string_view row) {
  std::vector<const Column*> columns;
  if (row.find(kAllHeads) == std::string_view::npos) return columns;
  bool known = false;
  for (const std::string_view cell : cells(row)) {
    columns.push_back(find_column(cell));
    known = known || (columns.back() != nullptr && columns.back()->kind == Kind::bytes);
  }
  if (!known) columns.clear();
  return columns;
}

/// The columns that "--query-gpu=index,memory.used" asks for: with "noheader" nothing else names them.
std::vector<const Column*> read_query(std::string_view line) {
  std::vector<const Column*> columns;
  const size_t query = line.find("--query-"), equals = line.find('=', query);
  if (query == std::string_view::npos || equals == std::string_view::npos) return columns;
  std::string_view names = line.substr(equals + 1);
  names = names.substr(0, names.find("--"));
  bool known = false;
  for (const std::string_view name : cells(names)) {
    const Column* plain = find_column(name);
    columns.push_back(plain != nullptr ? plain : find_column(std::string(name) + "[mib]"));
    known = known || (columns.back() != nullptr && columns.back()->kind == Kind::bytes);
  }
  if (!known) columns.clear();
  return columns;
}

/// "11264 MiB" alone: a row of a table that has one column.
bool is_size_alone(std::string_view row) {
  size_t digits = 0;
  while (digits < row.size() && is_digit(row[digits])) ++digits;
  const std::string_view behind = trimmed(row.substr(digits));
  return digits > 0 && (behind.empty() || behind == "MiB");
}

struct Table {
  LogReading& reading;
  std::vector<const Column*> columns;
  uint32_t message = kFirstTableMessage;
  int device = 0;
  size_t rows = 0;
  bool asked = false;  // by a command, not named by a head

  void begin(std::vector<const Column*> head, bool by_command) {
    columns = std::move(head);
    device = 0;
    rows = 0;
    asked = by_command;
  }

  void add(const Column& column, std::string_view cell, uint32_t line) {
    const LogText text = prepare_log(cell);
    const NumberScan number = scan_number(text, 0);
    LogFigure figure;
    figure.what = column.what;
    figure.kind = CaptureKind::bytes;
    figure.tool = column.tool;
    figure.printed = text.excerpt(0, text.size());
    figure.device = device;
    figure.message = message;
    figure.line = line;
    const std::string behind = text.excerpt(number.end, text.size());
    const bool alone = behind.empty() || behind == "MiB" || behind == "MB";  // "0xc1" is none
    if (number.result == Scan::read && alone && number_bytes(number, column.unit_bytes, figure.bytes)) {
      reading.figures.push_back(std::move(figure));
    } else {
      reading.gaps.push_back({column.what, figure.printed, "no number", line});
    }
  }

  void add_name(const Column& column, std::string_view cell, uint32_t line) {
    LogFigure figure;
    figure.what = column.what;
    figure.kind = CaptureKind::text;
    figure.text = figure.printed = std::string(trimmed(cell));
    figure.tool = column.tool;
    figure.device = device;
    figure.message = message;
    figure.line = line;
    if (!figure.text.empty()) reading.figures.push_back(std::move(figure));
  }

  /// The GPU of a row is counted where no column says it.
  void find_device(const std::vector<std::string_view>& values) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] == nullptr || columns[i]->kind != Kind::device) continue;
      const std::optional<double> number = read_number(trimmed(values[i]));
      if (number && *number >= 0 && *number < 1e6) device = static_cast<int>(*number);
    }
  }

  bool has_size(const std::vector<std::string_view>& values) const {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] == nullptr || columns[i]->kind != Kind::bytes) continue;
      if (const std::string_view cell = trimmed(values[i]); !cell.empty() && is_digit(cell[0])) return true;
    }
    return false;
  }

  /// Rows with another number of cells are none of the table; one without any size names nothing.
  void add_row(std::string_view row, uint32_t line) {
    const std::vector<std::string_view> values = cells(row);
    const bool sized = values.size() == columns.size() && has_size(values);
    if (values.size() != columns.size() || (asked && !sized) || rows++ >= kMostRows) return;
    if (columns.size() == 1 && !is_size_alone(trimmed(row))) return columns.clear();
    ++message;
    find_device(values);
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] == nullptr || columns[i]->kind == Kind::device) continue;
      if (columns[i]->kind == Kind::bytes) add(*columns[i], values[i], line);
      if (columns[i]->kind == Kind::name && sized) add_name(*columns[i], values[i], line);
    }
    ++device;
  }
};

}  // namespace

LogFigure table_size(std::string_view what, int64_t bytes, std::string_view printed, const char* tool, uint32_t message,
                     uint32_t line) {
  LogFigure figure;
  figure.what = what;
  figure.kind = CaptureKind::bytes;
  figure.bytes = bytes;
  figure.printed = printed;
  figure.tool = tool;
  figure.message = message;
  figure.line = line;
  return figure;
}

void read_device_csv(const LogText& text, LogReading& reading) {
  Table table{reading, {}};
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    bool commas = false;
    for (end = begin; end < text.size() && (end == begin || text.gap(end) != Gap::line); ++end) {
      commas = commas || text.at(end) == ',';
    }
    const std::string_view line = std::string_view(text.characters).substr(begin, end - begin);
    const bool head = (commas || end - begin < kOneColumn) && line.find(kAllHeads) != std::string_view::npos;
    const bool row_may_be = table.columns.size() == 1 || (commas && !table.columns.empty());
    if (!(head || row_may_be) || end - begin > kLongestRow) continue;
    if (std::vector<const Column*> query = read_query(head ? line : std::string_view()); !query.empty()) {
      table.begin(std::move(query), true);
      continue;
    }
    std::string row = text.excerpt(text.behind_prefix(begin), end);
    if (std::vector<const Column*> columns = read_head(row); !columns.empty()) {
      table.begin(std::move(columns), false);
    } else if (!table.columns.empty()) {
      if (cells(row).size() < table.columns.size()) row = text.excerpt(begin, end);  // its first cell is a time
      table.add_row(row, text.lines[begin]);
    }
  }
}

}  // namespace vram
