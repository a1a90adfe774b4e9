#pragma once

#include <utility>
#include <vector>

#include "engine/line.h"

namespace vram {

/// A group; where it has no children, a line of 0 bytes.
inline Line sum_line(const char* id, const char* label, std::vector<Line> children, const char* note = "") {
  if (children.empty()) return leaf(id, label, {times("0", 0, "bytes")}, note);
  return group(id, label, std::move(children), note);
}

}  // namespace vram
