#include "web/form.h"

#include "engine/preset_table.h"

namespace vram {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + '"';
}

void append(std::string& list, std::string_view item) {
  if (!list.empty()) list += ',';
  list += item;
}

/// What a key accepts where that is a list; empty where it is anything.
std::string words_of(const Field& row) {
  std::string words;
  if (row.key == Key::model || row.key == Key::gpu) {
    for (const PresetRow& preset : row.key == Key::model ? model_presets() : hardware_presets())
      append(words, quoted(preset.id));
    append(words, quoted("custom"));
  }
  for (const std::string_view word : row.words) append(words, quoted(word));
  return words;
}

std::string row_json(const App& app, const Field& row) {
  const auto draft = app.drafts.find(row.key);
  const bool drafted = draft != app.drafts.end();
  std::string json = "{\"name\":" + quoted(row.name) + ",\"section\":" + quoted(row.section);
  json += ",\"label\":" + quoted(row.label) + ",\"help\":" + quoted(row.help) + ",\"unit\":" + quoted(row.unit);
  json += ",\"value\":" + quoted(drafted ? draft->second.text : value_text(app.plan(), row.key));
  json += ",\"given\":" + std::string(is_given(app, row.key) ? "true" : "false");
  json += ",\"flag\":" + std::string(row.kind == FieldKind::flag ? "true" : "false");
  json += ",\"words\":[" + words_of(row) + "],\"complaint\":" + quoted(drafted ? draft->second.complaint : "") + "}";
  return json;
}

}  // namespace

std::string form_json(const App& app) {
  std::string rows;
  for (const Field& row : fields())
    if (row.group != Group::measured && row.key != Key::arch && row.key != Key::vs) append(rows, row_json(app, row));
  return "[" + rows + "]";
}

}  // namespace vram
