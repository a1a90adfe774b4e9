#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/units.h"

namespace vram {

/// JSON text in the order of its calls. What does not apply is left out: an empty optional, and a number that is
/// not finite, write nothing.
class JsonWriter {
 public:
  /// Without a name: an element of an array, or the document itself.
  void open(char bracket, std::string_view name = "");
  void close(char bracket);

  void member(std::string_view name, std::string_view text);
  void member(std::string_view name, uint64_t value) { raw(name, std::to_string(value)); }
  void member(std::string_view name, int64_t value) { raw(name, std::to_string(value)); }
  void member(std::string_view name, double value) {
    if (std::isfinite(value)) raw(name, write_number(value));
  }
  template <class T>
  void member(std::string_view name, const std::optional<T>& value) {
    if (value) member(name, *value);
  }
  /// Text that is left out where it is empty.
  void member_if(std::string_view name, std::string_view text) {
    if (!text.empty()) member(name, text);
  }

  const std::string& text() const { return text_; }

 private:
  void raw(std::string_view name, std::string_view value);
  void begin(std::string_view name);

  std::string text_;
};

/// With quotes around it; bytes that are no UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

}  // namespace vram
