#include "tests/accuracy/bill_sums.h"

#include <vector>

namespace vram::accuracy {

const Line* line_of(Lines lines, std::string_view id) {
  for (const Line& line : lines)
    if (id == line.id) return &line;
  return nullptr;
}

Amount sum_of(Lines lines, std::initializer_list<std::string_view> ids) {
  std::vector<Line> taken;
  for (std::string_view id : ids)
    if (const Line* line = line_of(lines, id)) taken.push_back(*line);
  return {static_cast<double>(total_bytes(taken)), static_cast<double>(total_band_bytes(taken))};
}

Amount child_of(Lines lines, std::string_view id, std::string_view child) {
  const Line* line = line_of(lines, id);
  return line != nullptr ? sum_of(line->children, {child}) : Amount{};
}

double bytes_within(const Line& line, std::string_view id) {
  if (id == line.id) return static_cast<double>(line.bytes);
  double bytes = 0;
  for (const Line& child : line.children) bytes += bytes_within(child, id);
  return bytes;
}

}  // namespace vram::accuracy
