#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vram::accuracy {

/// A share string as it comes together; the last value of a key counts.
class Share {
 public:
  void set(std::string_view key, std::string_view value);
  void set(std::string_view key, double value);
  /// Only where there is a value.
  void set_if(std::string_view key, double value) {
    if (value > 0) set(key, value);
  }
  std::string get(std::string_view key) const;
  std::string text() const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

}  // namespace vram::accuracy
