#pragma once

#include <string>
#include <string_view>

#include "engine/training/training.h"

namespace vram::samples {

inline TrainingBill bill(std::string_view share) { return training_bill(read_plan(share).plan); }

/// The line of that id; an empty one where there is none.
inline Line line(const std::vector<Line>& lines, std::string_view id) {
  for (const Line& l : lines)
    if (l.id == id) return l;
  return {};
}

inline uint64_t bytes(const TrainingBill& bill, std::string_view id) { return line(bill.lines, id).bytes; }

inline const Phase& phase(const TrainingBill& bill, std::string_view id) {
  for (const Phase& p : bill.phases)
    if (p.id == id) return p;
  static const Phase none;
  return none;
}

/// Bytes of that line in that phase.
inline uint64_t bytes(const TrainingBill& bill, std::string_view phase_id, std::string_view id) {
  return line(phase(bill, phase_id).lines, id).bytes;
}

}  // namespace vram::samples
