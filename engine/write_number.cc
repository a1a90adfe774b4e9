#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "engine/units.h"

namespace vram {
namespace {

/// digits x 10^exponent with the point behind the first digit: "7965", 1 -> 79.65.
struct Digits {
  std::string digits;
  int exponent = 0;
};

/// The fewest digits that read back as `value` (positive). Up to DBL_DIG digits survive being a double: fewer that read
/// back would be those, with zeros behind them; numbers below the normal ones have not that many.
Digits shortest_digits(double value) {
  char text[40];
  for (int decimals = value < DBL_MIN ? 0 : DBL_DIG - 1; decimals < DBL_DECIMAL_DIG; ++decimals) {
    std::snprintf(text, sizeof text, "%.*e", decimals, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  const std::string_view written = text;
  const size_t e = written.find('e');
  Digits result;
  for (const char c : written.substr(0, e)) {
    if (c != '.') result.digits += c;
  }
  while (result.digits.size() > 1 && result.digits.back() == '0') result.digits.pop_back();
  result.exponent = std::atoi(text + e + 1);
  return result;
}

/// Plain where a reader can take it in, else with an exponent.
std::string lay_out(const Digits& number) {
  const std::string& digits = number.digits;
  const int count = static_cast<int>(digits.size()), exponent = number.exponent;
  if (exponent >= 0 && exponent < 21) {
    const size_t whole = static_cast<size_t>(exponent) + 1;
    if (count <= exponent + 1) return digits + std::string(whole - digits.size(), '0');
    return digits.substr(0, whole) + "." + digits.substr(whole);
  }
  if (exponent < 0 && exponent >= -7) {
    return "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  }
  std::string text = digits.substr(0, 1);
  if (count > 1) text += "." + digits.substr(1);
  return text + "e" + std::to_string(exponent);
}

/// `value` / unit with at most 6 decimals, without trailing zeros.
std::string in_unit(double bytes, double unit_bytes) {
  std::string text = show_fixed(bytes / unit_bytes, 6);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::string write_number(double value) {
  if (!std::isfinite(value) || value == 0) return "0";
  if (value < 0) return "-" + write_number(-value);
  if (value == std::floor(value) && value < 9.2e18) return std::to_string(static_cast<uint64_t>(value));
  return lay_out(shortest_digits(value));
}

std::string write_share(double share) {
  Digits percent = shortest_digits(share);
  percent.exponent += 2;
  return (share > 0 ? lay_out(percent) : "0") + "%";
}

std::string write_size(double bytes, double unit_bytes) {
  std::string own = in_unit(bytes, unit_bytes);
  if (read_size(own, unit_bytes) == bytes) return own;
  std::string decimal = in_unit(bytes, kGB) + "GB";
  if (read_size(decimal, unit_bytes) == bytes) return decimal;
  return write_number(bytes) + "B";
}

}  // namespace vram
