#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "engine/units.h"

namespace vram {
namespace {

/// Three significant digits up to 99.9, whole numbers from 100 on.
std::string rounded(double value) {
  if (value >= 99.95) return show_fixed(value, 0);
  return show_fixed(value, value >= 9.995 ? 1 : 2);
}

/// "83.9", "512", "12": without the zeros that only repeat a whole number.
std::string trimmed(double value) {
  std::string text = rounded(value);
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

struct Scale {
  double least, unit;
  const char* name;
};

constexpr Scale kBinary[] = {{1e6 * kTiB, kTiB* kKiB, "PiB"},
                             {10 * kTiB, kTiB, "TiB"},
                             {kGiB, kGiB, "GiB"},
                             {kMiB, kMiB, "MiB"},
                             {kKiB, kKiB, "KiB"},
                             {0, 1, "B"}};
constexpr Scale kDecimal[] = {{1e18, 1e15, "PB"}, {1e13, 1e12, "TB"}, {1e9, 1e9, "GB"},
                              {1e6, 1e6, "MB"},   {1e3, 1e3, "kB"},   {0, 1, "B"}};

std::string scaled_bytes(double bytes, const Scale (&scales)[6]) {
  for (const Scale& scale : scales) {
    if (bytes < scale.least) continue;
    const double value = bytes / scale.unit;
    const std::string text = value >= 999.5 ? show_grouped(std::nearbyint(value)) : trimmed(value);
    return text + " " + scale.name;
  }
  return "0 B";
}

}  // namespace

std::string show_fixed(double value, int digits) {
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  std::string shown = text;
  if (shown[0] == '-' && shown.find_first_not_of("-0.") == std::string::npos) shown.erase(0, 1);
  return shown;
}

std::string show_bytes(double bytes, Units units) {
  if (bytes < 0) return "-" + show_bytes(-bytes, units);
  return units == Units::gib ? scaled_bytes(bytes, kBinary) : scaled_bytes(bytes, kDecimal);
}

std::string show_count(double value) {
  if (value < 0) return "-" + show_count(-value);
  if (value >= 9.995e15) {
    char text[40];
    std::snprintf(text, sizeof text, "%.2e", value);
    const std::string shown = text;
    const size_t e = shown.find('e');
    return shown.substr(0, e + 1) + std::to_string(std::atoi(text + e + 1));
  }
  if (value >= 9.995e11) return rounded(value / 1e12) + " T";
  if (value >= 9.995e8) return rounded(value / 1e9) + " B";
  if (value >= 9.995e5) return rounded(value / 1e6) + " M";
  if (value >= 1e4) return show_grouped(std::nearbyint(value));
  return value == std::floor(value) ? show_fixed(value, 0) : trimmed(value);
}

std::string show_grouped(double value) {
  std::string text = show_fixed(value, 0);
  const size_t first = text[0] == '-' ? 1 : 0;
  for (size_t i = text.size(); i > first + 3;) {
    i -= 3;
    text.insert(i, ",");
  }
  return text;
}

std::string counted(double count, const char* one, const char* several) {
  return show_grouped(count) + " " + (count == 1 ? one : several);
}

std::string show_duration(double seconds) {
  if (seconds < 0) return "-" + show_duration(-seconds);
  if (seconds >= 48 * 3600.0) return rounded(seconds / 86400) + " days";
  if (seconds >= 3600) return rounded(seconds / 3600) + " h";
  if (seconds >= 60) return rounded(seconds / 60) + " min";
  if (seconds >= 0.9995) return rounded(seconds) + " s";
  if (seconds >= 0.0009995) return rounded(seconds * 1e3) + " ms";
  if (seconds > 0) return rounded(seconds * 1e6) + " µs";
  return "0 s";
}

}  // namespace vram
