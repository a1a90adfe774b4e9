#pragma once

#include <string>

#include "engine/plan/plan.h"

namespace vram {

/// Does a value of this key have a next one?
inline bool has_steps(const Field& row) {
  return row.kind == FieldKind::count || row.kind == FieldKind::number || row.kind == FieldKind::share ||
         row.kind == FieldKind::size || row.kind == FieldKind::rate;
}

/// The value of a key some steps up, or down where negative: a count that is a power of two doubles, a share moves by
/// 0.05, others by one in their second digit. It stays within the key's range.
std::string stepped(const Plan& plan, const Field& row, int steps);

}  // namespace vram
