#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/advice/change.h"
#include "engine/training/training.h"

namespace vram {

/// What one change alone is worth in the plan at hand.
struct Switch {
  Change change;
  int64_t saves_bytes = 0;           // a GPU; negative: takes more
  std::optional<double> time_ratio;  // of the same tokens, after ÷ before; serving: seconds a token
  std::optional<double> requests;    // serving: that may be promised, after
  Verdict verdict = Verdict::invalid;
};

/// Each change that the plan could make and that saves something, in the order people should try them, and then what is
/// on already, undone.
std::vector<Switch> training_switches(const Plan& plan);
std::vector<Switch> serving_switches(const Plan& plan);

}  // namespace vram
