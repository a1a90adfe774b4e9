#include "engine/report/json_writer.h"

#include <algorithm>
#include <cstdio>

#include "engine/report/utf8.h"

namespace vram {

namespace {

/// Stands for itself between quotes: most text is long runs of such.
bool is_plain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

void append_character(const Character& character, std::string_view bytes, std::string& out) {
  if (!character.valid) {
    out += "\xef\xbf\xbd";
  } else if (character.code == '"' || character.code == '\\') {
    out.append("\\").append(bytes);
  } else if (character.code < 0x20 || character.code == 0x7f) {
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(character.code));
    out += escape;
  } else {
    out.append(bytes);
  }
}

void append_string(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const auto plain = static_cast<size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const Character character = first_character(text);
    append_character(character, text.substr(0, character.bytes), out);
    text.remove_prefix(character.bytes);
  }
  out += '"';
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string quoted;
  append_string(text, quoted);
  return quoted;
}

void JsonWriter::begin(std::string_view name) {
  const char last = text_.empty() ? '{' : text_.back();
  if (last != '{' && last != '[') text_ += ',';
  if (name.empty()) return;
  append_string(name, text_);
  text_ += ':';
}

void JsonWriter::open(char bracket, std::string_view name) {
  if (!text_.empty()) begin(name);
  text_ += bracket;
}

void JsonWriter::close(char bracket) { text_ += bracket; }

void JsonWriter::member(std::string_view name, std::string_view text) {
  begin(name);
  append_string(text, text_);
}

void JsonWriter::raw(std::string_view name, std::string_view value) {
  begin(name);
  text_ += value;
}

}  // namespace vram
