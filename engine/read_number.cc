#include <cmath>
#include <cstdlib>

#include "engine/text.h"
#include "engine/units.h"

namespace vram {
namespace {

/// A decimal as typed: the text of its digits, cleaned, and what stands behind it.
struct Decimal {
  std::string digits;       // "-1.5"; no separators, no exponent
  int exponent = 0;         // of ten
  std::string_view suffix;  // "GiB"
};

/// "1,000.5" -> "1000.5": separators only between two digits. False where there is no digit at all.
bool take_digits(std::string_view& text, std::string& digits) {
  bool any = false, point = false;
  size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    const bool separates = (c == '_' || c == ',') && any && is_digit(text[i - 1]) && i + 1 < text.size() &&
                           is_digit(text[i + 1]) && !point;
    if (separates) continue;
    if (c == '.' && !point) {
      point = true;
    } else if (is_digit(c)) {
      any = true;
    } else {
      break;
    }
    digits += c;
  }
  text.remove_prefix(i);
  return any;
}

/// "e9", "E-3" at the start of `text`; leaves it alone where no digit follows (the 'e' is then no exponent).
int take_exponent(std::string_view& text) {
  if (text.empty() || lower_case(text[0]) != 'e') return 0;
  size_t i = 1;
  const bool negative = i < text.size() && text[i] == '-';
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  if (i == text.size() || !is_digit(text[i])) return 0;
  int exponent = 0;
  for (; i < text.size() && is_digit(text[i]); ++i) {
    if (exponent < 100000) exponent = exponent * 10 + (text[i] - '0');
  }
  text.remove_prefix(i);
  return negative ? -exponent : exponent;
}

std::optional<Decimal> take_decimal(std::string_view text) {
  Decimal decimal;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    if (text[0] == '-') decimal.digits = "-";
    text.remove_prefix(1);
  }
  if (!take_digits(text, decimal.digits)) return std::nullopt;
  decimal.exponent = take_exponent(text);
  if (text.size() > 1 && text[0] == ' ') text.remove_prefix(1);
  decimal.suffix = text;
  return decimal;
}

/// digits x 10^(exponent + more) x factor, rounded once where `factor` is a power of two.
std::optional<double> value_of(const Decimal& decimal, int more, double factor) {
  const std::string text = decimal.digits + "e" + std::to_string(decimal.exponent + more);
  const double value = std::strtod(text.c_str(), nullptr) * factor;
  if (!std::isfinite(value)) return std::nullopt;
  return value == 0 ? 0 : value;  // never "-0"
}

struct Suffix {
  std::string_view text;  // in small letters
  int exponent;           // of ten
  double factor;          // a power of two
};

constexpr Suffix kNumberSuffixes[] = {
    {"", 0, 1},   {"%", -2, 1},    {"k", 3, 1},     {"m", 6, 1},     {"b", 9, 1},     {"g", 9, 1},
    {"t", 12, 1}, {"ki", 0, kKiB}, {"mi", 0, kMiB}, {"gi", 0, kGiB}, {"ti", 0, kTiB},
};

constexpr Suffix kSizeSuffixes[] = {
    {"b", 0, 1},      {"kb", 3, 1},    {"mb", 6, 1},    {"gb", 9, 1},     {"tb", 12, 1},    {"k", 3, 1},
    {"m", 6, 1},      {"g", 9, 1},     {"t", 12, 1},    {"kib", 0, kKiB}, {"mib", 0, kMiB}, {"gib", 0, kGiB},
    {"tib", 0, kTiB}, {"ki", 0, kKiB}, {"mi", 0, kMiB}, {"gi", 0, kGiB},  {"ti", 0, kTiB},
};

// Of GB/s. Only here does case tell bytes from bits: 1 Gb/s = 0.125 GB/s.
constexpr Suffix kRateSuffixes[] = {
    {"", 0, 1},          {"MB/s", -3, 1},    {"GB/s", 0, 1},     {"TB/s", 3, 1},
    {"Mb/s", -3, 0.125}, {"Gb/s", 0, 0.125}, {"Tb/s", 3, 0.125},
};

template <size_t N>
std::optional<double> with_suffix(const Decimal& decimal, std::string_view suffix, const Suffix (&suffixes)[N]) {
  for (const Suffix& known : suffixes) {
    if (known.text == suffix) return value_of(decimal, known.exponent, known.factor);
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> read_number(std::string_view text) {
  const std::optional<Decimal> decimal = take_decimal(text);
  if (!decimal) return std::nullopt;
  return with_suffix(*decimal, lower_case(decimal->suffix), kNumberSuffixes);
}

std::optional<double> read_size(std::string_view text, double unit_bytes) {
  const std::optional<Decimal> decimal = take_decimal(text);
  if (!decimal) return std::nullopt;
  const std::optional<double> bytes = decimal->suffix.empty()
                                          ? value_of(*decimal, 0, unit_bytes)
                                          : with_suffix(*decimal, lower_case(decimal->suffix), kSizeSuffixes);
  if (!bytes) return std::nullopt;
  return std::nearbyint(*bytes);  // 79.65 GiB is no whole number of bytes
}

std::optional<double> read_rate(std::string_view text) {
  const std::optional<Decimal> decimal = take_decimal(text);
  if (!decimal) return std::nullopt;
  std::string suffix(decimal->suffix);
  if (!suffix.empty() && (suffix[0] == 'g' || suffix[0] == 't' || suffix[0] == 'm')) {
    suffix[0] = static_cast<char>(suffix[0] - 'a' + 'A');
  }
  return with_suffix(*decimal, suffix, kRateSuffixes);
}

}  // namespace vram
