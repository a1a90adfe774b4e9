#include "web/form.h"

#include "engine/plan/texts.h"
#include "engine/preset_table.h"
#include "engine/report/json_writer.h"
#include "web/inputs.h"

namespace vram {
namespace {

void append(std::string& list, std::string_view item) {
  if (!list.empty()) list += ',';
  list += item;
}

std::string choice(std::string_view word, std::string_view name) {
  return "[" + json_string(word) + "," + json_string(name) + "]";
}

/// What a key accepts where that is a list, and how it is called; empty where it is anything.
std::string words_of(const App& app, const Field& row) {
  std::string words;
  if (row.key == Key::gpus_among) append(words, choice(kAllGpus, "Every kind"));
  if (row.key == Key::gpus_among)
    for (const PresetRow& preset : hardware_presets()) append(words, choice(preset.id, preset.name));
  if (row.key == Key::model || row.key == Key::gpu) {
    for (const PresetRow& preset : row.key == Key::model ? app.models : app.gpus)
      append(words, choice(preset.id, preset.name));
    append(words, choice("custom", "Custom"));
  }
  for (const std::string_view word : row.words) append(words, choice(word, word));
  return words;
}

/// The keys of a link that are figures of a log or of the page itself are no inputs.
bool is_input(const Field& row) {
  return row.section != "Measured" && row.key != Key::arch && row.key != Key::vs && row.key != Key::made;
}

constexpr std::string_view kGroups[] = {"model", "hardware", "training", "serving", "measured", "view"};

std::string row_json(const App& app, const Field& row) {
  const auto draft = app.drafts.find(row.key);
  const bool drafted = draft != app.drafts.end();
  std::string json = "{\"name\":" + json_string(row.name) + ",\"section\":" + json_string(row.section);
  json += ",\"group\":" + json_string(kGroups[static_cast<size_t>(row.group)]);
  json += ",\"first\":" + std::string(is_shown(app, row.key) ? "true" : "false");
  json += ",\"label\":" + json_string(row.label) + ",\"help\":" + json_string(help_of(row)) +
          ",\"unit\":" + json_string(row.unit);
  json += ",\"value\":" + json_string(drafted ? draft->second.text : value_text(app.plan(), row.key));
  json += ",\"given\":" + std::string(is_given(app, row.key) ? "true" : "false");
  json += ",\"several\":" + std::string(row.key == Key::gpus_among ? "true" : "false");
  json += ",\"flag\":" + std::string(row.kind == FieldKind::flag ? "true" : "false");
  json += ",\"words\":[" + words_of(app, row) +
          "],\"complaint\":" + json_string(drafted ? draft->second.complaint : "") + "}";
  return json;
}

}  // namespace

std::string form_json(const App& app) {
  std::string rows;
  for (const Field& row : fields())
    if (is_input(row)) append(rows, row_json(app, row));
  return "[" + rows + "]";
}

}  // namespace vram
