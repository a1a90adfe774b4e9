#pragma once

#include <string>
#include <vector>

#include "tests/accuracy/measurement.h"

namespace vram::accuracy {

/// Measurements of one figure under one share string: what no estimate can tell apart.
struct Alias {
  std::string family, share;
  Figure figure = Figure::allocated;
  std::vector<std::string> ids;
  double half_spread = 0;  // (largest − smallest) ÷ (largest + smallest)
};

/// Groups of two and more, the widest first.
std::vector<Alias> aliases(const std::vector<Measurement>& measurements);

}  // namespace vram::accuracy
