#pragma once

#include <string>

#include "tests/accuracy/measurement.h"

namespace vram::accuracy {

/// Checks whose name says which figure of the bill they are of.
struct NamedFigure {
  const char* name;
  Figure figure;
};

/// Of a name that begins with one of those words; null: of none.
const NamedFigure* named_figure(const std::string& name);
/// Of a name that begins with a word of its own: "peak_activation_gib", "total_weights".
const NamedFigure* figure_within(const std::string& name);

}  // namespace vram::accuracy
