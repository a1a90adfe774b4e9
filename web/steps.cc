#include "web/steps.h"

#include <algorithm>
#include <cmath>

#include "engine/units.h"

namespace vram {
namespace {

bool is_power_of_two(double value) { return value >= 1 && std::exp2(std::round(std::log2(value))) == value; }

/// One in the second digit of the value that is reached: 90, 91 ... 99, 100, 110.
double width_of(const Field& row, double value, bool up) {
  if (row.kind == FieldKind::share) return 0.05;
  const double digits = std::floor(std::log10(std::max(value * (up ? 1 : 0.999), 1e-3)));
  return std::max(std::pow(10, digits - 1), row.kind == FieldKind::count ? 1 : 0.01);
}

double next(const Field& row, double value, bool up) {
  if (row.kind == FieldKind::count && is_power_of_two(value) && (up || value > 1)) return up ? 2 * value : value / 2;
  const double width = width_of(row, value, up);
  return std::round((value + (up ? width : -width)) * 1e6) / 1e6;
}

}  // namespace

std::string stepped(const Plan& plan, const Field& row, int steps) {
  const std::string text = value_text(plan, row.key);
  double value = row.kind == FieldKind::size ? read_size(text, kGiB).value_or(0) / kGiB : read_number(text).value_or(0);
  for (int i = 0; i < std::abs(steps); i++) value = std::clamp(next(row, value, steps > 0), row.least, row.most);
  return write_number(value);
}

}  // namespace vram
