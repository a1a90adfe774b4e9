#include "engine/report/csv.h"
#include "engine/report/report.h"

namespace vram {
namespace {

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

/// A line's id is its path, so that rows can be told apart and sums are not taken twice.
void add_line(std::string& out, const char* bill, const std::string& path, const Line& line) {
  const std::string id = path + line.id;
  const std::string how = line.factors.empty() ? "" : formula(line);
  out += csv_row({bill, id, line.label, std::to_string(line.bytes), std::to_string(line.band_bytes), how});
  for (const Line& child : line.children) add_line(out, bill, id + "/", child);
}

}  // namespace

std::string csv_row(const std::vector<std::string>& cells) {
  std::string row;
  for (size_t i = 0; i < cells.size(); ++i) row.append(i == 0 ? "" : ",").append(csv_cell(cells[i]));
  return row + "\n";
}

std::string report_csv(const Report& report) {
  std::string out = "bill,id,label,bytes,band_bytes,formula\n";
  if (!report.answered) return out;
  if (report.training.verdict != Verdict::invalid) {
    for (const Line& line : report.training.lines) add_line(out, "training", "", line);
  }
  for (const Traffic& item : report.compute.traffic) add_line(out, "traffic", "", item.line);
  if (report.serving.verdict != Verdict::invalid) {
    for (const Line& line : report.serving.lines) add_line(out, "serving", "", line);
  }
  return out;
}

}  // namespace vram
