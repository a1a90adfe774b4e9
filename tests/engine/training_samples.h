#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "engine/training/training.h"

namespace vram::samples {

/// Kept to the end, as lines taken out of it must be.
inline const TrainingBill& bill(std::string_view share) {
  static std::deque<TrainingBill> kept;
  return kept.emplace_back(training_bill(read_plan(share).plan));
}

inline Sheet& sheet() {
  static Sheet kept;
  return kept;
}

inline Lines stage_lines(const Plan& plan, size_t stage) { return vram::stage_lines(sheet(), plan, stage); }

/// The line of that id; an empty one where there is none.
inline Line line(Lines lines, std::string_view id) {
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
