#include "engine/report/json_writer.h"

#include <cstdio>

#include "engine/report/utf8.h"

namespace vram {

std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const Character character = first_character(text);
    if (!character.valid) {
      quoted += "\xef\xbf\xbd";
    } else if (character.code == '"' || character.code == '\\') {
      quoted.append("\\").append(text.substr(0, 1));
    } else if (character.code < 0x20 || character.code == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(character.code));
      quoted += escape;
    } else {
      quoted.append(text.substr(0, character.bytes));
    }
    text.remove_prefix(character.bytes);
  }
  return quoted + "\"";
}

void JsonWriter::begin(std::string_view name) {
  const char last = text_.empty() ? '{' : text_.back();
  if (last != '{' && last != '[') text_ += ',';
  if (!name.empty()) text_.append(json_string(name)).append(":");
}

void JsonWriter::open(char bracket, std::string_view name) {
  if (!text_.empty()) begin(name);
  text_ += bracket;
}

void JsonWriter::close(char bracket) { text_ += bracket; }

void JsonWriter::member(std::string_view name, std::string_view text) { raw(name, json_string(text)); }

void JsonWriter::raw(std::string_view name, std::string_view value) {
  begin(name);
  text_ += value;
}

}  // namespace vram
