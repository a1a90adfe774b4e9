#include "tests/accuracy/amount.h"

#include "engine/units.h"

namespace vram::accuracy {
namespace {

bool counts_bytes(const std::string& unit) {
  return unit == "GiB" || unit == "GB" || unit == "MiB" || unit == "MB" || unit == "B";
}

}  // namespace

std::string amount(double value, const std::string& unit) {
  if (!counts_bytes(unit)) return value >= 1e6 ? show_count(value) : show_fixed(value, value < 100 ? 3 : 1);
  const double one = unit == "GiB" ? kGiB : unit == "MiB" ? kMiB : unit == "GB" ? kGB : unit == "MB" ? 1e6 : 1;
  return show_fixed(value / one, one == 1 ? 0 : 3) + " " + unit;
}

}  // namespace vram::accuracy
