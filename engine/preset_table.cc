#include "engine/preset_table.h"

#include <string>

namespace vram {
namespace {

/// What stands behind `"key": `, without quotes; "" where the file has no such member.
std::string_view member(std::string_view json, std::string_view key) {
  const std::string name = "\"" + std::string(key) + "\": ";
  const size_t at = key.empty() ? std::string_view::npos : json.find(name);
  if (at == std::string_view::npos) return "";
  json.remove_prefix(at + name.size());
  if (json.front() != '"') return json.substr(0, json.find_first_of(",}"));
  json.remove_prefix(1);
  return json.substr(0, json.find('"'));
}

}  // namespace

std::vector<PresetRow> preset_rows(std::string_view text, std::string_view detail) {
  std::vector<PresetRow> rows;
  while (!text.empty()) {
    const std::string_view json = text.substr(0, text.find('\0'));
    rows.push_back({member(json, "id"), member(json, "name"), member(json, detail), json, member(json, "family")});
    text.remove_prefix(json.size() + 1);
  }
  return rows;
}

}  // namespace vram
