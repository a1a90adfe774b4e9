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

/// Lines moved into a list, where an initialiser list would copy them with all that is below.
template <typename... Lines>
std::vector<Line> lines_of(Lines&&... lines) {
  std::vector<Line> list;
  list.reserve(sizeof...(lines) + 4);
  (list.push_back(std::forward<Lines>(lines)), ...);
  return list;
}

}  // namespace vram
