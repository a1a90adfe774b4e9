#pragma once

#include <initializer_list>
#include <string_view>

#include "engine/line.h"

namespace vram::accuracy {

/// An amount and its half-width.
struct Amount {
  double value = 0, band = 0;
};

/// The line of that id among those; nullptr where there is none.
const Line* line_of(Lines lines, std::string_view id);
/// Sum of named lines of a bill; bands by the root of the sum of their squares, as the bill's own.
Amount sum_of(Lines lines, std::initializer_list<std::string_view> ids);
/// A child of a line.
Amount child_of(Lines lines, std::string_view id, std::string_view child);
/// Bytes of every line of that name, however deep.
double bytes_within(const Line& line, std::string_view id);

}  // namespace vram::accuracy
