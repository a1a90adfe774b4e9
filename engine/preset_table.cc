#include "engine/preset_table.h"

namespace vram {

std::vector<PresetRow> preset_rows(std::string_view text) {
  const auto next = [&text] {
    const size_t end = text.find('\0');
    const std::string_view member = text.substr(0, end);
    text.remove_prefix(end + 1);
    return member;
  };
  std::vector<PresetRow> rows;
  while (!text.empty()) {
    PresetRow& row = rows.emplace_back();
    for (std::string_view* member : {&row.id, &row.name, &row.detail, &row.json, &row.family}) *member = next();
  }
  return rows;
}

}  // namespace vram
