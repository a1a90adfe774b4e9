#include "tests/accuracy/share.h"

#include "engine/units.h"

namespace vram::accuracy {
namespace {

std::string encoded(std::string_view value) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (char c : value) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                       c == '.' || c == '_' || c == '~' || c == ',' || c == '+' || c == ':';
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

}  // namespace

void Share::set(std::string_view key, std::string_view value) {
  for (auto& pair : pairs_) {
    if (pair.first != key) continue;
    pair.second = value;
    return;
  }
  pairs_.emplace_back(key, value);
}

void Share::set(std::string_view key, double value) { set(key, write_number(value)); }

std::string Share::get(std::string_view key) const {
  for (const auto& pair : pairs_)
    if (pair.first == key) return pair.second;
  return "";
}

std::string Share::text() const {
  std::string out = "v=1";
  for (const auto& pair : pairs_) out += "&" + pair.first + "=" + encoded(pair.second);
  return out;
}

}  // namespace vram::accuracy
