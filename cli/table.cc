#include "cli/table.h"

#include <algorithm>

#include "engine/report/csv.h"
#include "engine/report/markdown.h"
#include "engine/report/utf8.h"
#include "engine/report/wrap.h"

namespace cli {
namespace {

std::vector<size_t> column_widths(const Table& table) {
  std::vector<size_t> widths;
  for (const std::string& cell : table.heading) widths.push_back(vram::display_width(cell));
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], vram::display_width(row[i]));
  }
  return widths;
}

std::string text_row(const Table& table, const std::vector<size_t>& widths, const std::vector<std::string>& cells) {
  std::string text;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) text += "  ";
    text += table.alignment[i] == 'r' ? vram::pad_left(cells[i], widths[i]) : vram::pad_right(cells[i], widths[i]);
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text + "\n";
}

}  // namespace

std::string write_table(const Table& table, Format format) {
  std::string out;
  if (format == Format::csv) {
    out = vram::csv_row(table.heading);
    for (const auto& row : table.rows) out += vram::csv_row(row);
    return out;
  }
  if (format == Format::markdown) {
    out = vram::markdown_row(table.heading) + vram::markdown_rule(table.alignment);
    for (const auto& row : table.rows) out += vram::markdown_row(row);
    return out;
  }
  const std::vector<size_t> widths = column_widths(table);
  out = text_row(table, widths, table.heading);
  for (const auto& row : table.rows) out += text_row(table, widths, row);
  return out;
}

}  // namespace cli
