#include "engine/report/markdown.h"

#include <cstdint>
#include <cstdio>

#include "engine/text.h"

namespace vram {

namespace {

bool in_a_word(std::string_view text, size_t at) {
  const auto is_letter = [&](size_t i) { return i < text.size() && is_alphanumeric(text[i]); };
  return at > 0 && is_letter(at - 1) && is_letter(at + 1);
}

}  // namespace

std::string markdown_text(std::string_view text) {
  std::string escaped;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      const bool mark_up =
          std::string_view("|\\`*[]").find(c) != std::string_view::npos || (c == '_' && !in_a_word(text, i));
      if (mark_up) escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

std::string markdown_target(std::string_view share) {
  std::string target;
  for (const char c : share) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte > 0x20 && byte < 0x7f && std::string_view("()<>[]\"'`|\\").find(c) == std::string_view::npos) {
      target += c;
      continue;
    }
    char escape[4];
    std::snprintf(escape, sizeof escape, "%%%02X", static_cast<unsigned>(byte));
    target += escape;
  }
  return target;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row.append(" ").append(markdown_text(cell)).append(" |");
  return row + "\n";
}

std::string markdown_rule(std::string_view alignment) {
  std::string rule = "|";
  for (const char side : alignment) rule += side == 'r' ? " ---: |" : " --- |";
  return rule + "\n";
}

}  // namespace vram
