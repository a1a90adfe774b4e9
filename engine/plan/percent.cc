#include "engine/plan/percent.h"

namespace vram {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool stays(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("-._~,:+/").find(c) != std::string_view::npos;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

void append(std::string& encoded, char c, bool as_it_is) {
  constexpr char kHex[] = "0123456789ABCDEF";
  if (as_it_is) {
    encoded += c;
    return;
  }
  const auto byte = static_cast<unsigned char>(c);
  encoded += '%';
  encoded += kHex[byte >> 4];
  encoded += kHex[byte & 15];
}

/// Whether a character steers a terminal or the order of the text around it: C1 controls, line and paragraph
/// separators, marks, embeddings, overrides and isolates of direction (UAX 9), the byte order mark.
bool steers(std::string_view c) {
  const auto last = static_cast<unsigned char>(c.back());
  if (c.size() == 2) return c[0] == '\xC2' && last < 0xA0;
  if (c.size() != 3) return false;
  const std::string_view block = c.substr(0, 2);
  return (block == "\xE2\x80" && (last == 0x8E || last == 0x8F || (last >= 0xA8 && last <= 0xAE))) ||
         (block == "\xE2\x81" && last >= 0xA6 && last <= 0xA9) || c == "\xEF\xBB\xBF";
}

/// Bytes of the UTF-8 character at the start of `text`; 0 where there is none (RFC 3629, section 4).
size_t utf8_length(std::string_view text) {
  const auto byte = [text](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x80) return is_control(static_cast<char>(first)) ? 0 : 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F)) return 0;
  if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::string percent_decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low < 0) {
      decoded += text[i];
      continue;
    }
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

std::string percent_encode(std::string_view text) {
  std::string encoded;
  for (const char c : text) append(encoded, c, stays(c));
  return encoded;
}

std::string one_line(std::string_view text) {
  std::string encoded;
  while (!text.empty()) {
    const size_t length = utf8_length(text), bytes = length == 0 ? 1 : length;
    const bool as_it_is = length > 0 && !steers(text.substr(0, length));
    for (const char c : text.substr(0, bytes)) append(encoded, c, as_it_is);
    text.remove_prefix(bytes);
  }
  return encoded;
}

std::string_view share_of_url(std::string_view text) {
  const size_t first = text.find_first_of("#?=&");
  if (first == std::string_view::npos) return text.find("://") == std::string_view::npos ? text : std::string_view();
  if (text[first] == '=' || text[first] == '&') return text;
  const size_t hash = text.find('#', first);
  if (hash != std::string_view::npos && hash + 1 < text.size()) return text.substr(hash + 1);
  if (text[first] != '?') return {};
  return text.substr(first + 1, (hash == std::string_view::npos ? text.size() : hash) - first - 1);
}

std::string printable(std::string_view text, size_t most_bytes) {
  std::string shown;
  while (!text.empty()) {
    if (shown.size() >= most_bytes) return shown + "…";
    const size_t length = utf8_length(text), bytes = length == 0 ? 1 : length;
    const std::string_view c = text.substr(0, bytes);
    shown += length == 0 || steers(c) ? kReplacement : c;
    text.remove_prefix(bytes);
  }
  return shown;
}

}  // namespace vram
