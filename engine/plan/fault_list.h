#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "engine/plan/plan.h"

namespace vram {

/// Collects what makes a plan impossible: each about one key, with the figures that do not agree.
struct FaultList {
  const Plan& plan;
  std::vector<Message> faults;

  void add(Key key, const std::string& reason) {
    const std::string name(field(key).name);
    faults.push_back({name, value_text(plan, key), name + ": " + reason});
  }
  void add_if(bool impossible, Key key, const char* reason) {
    if (impossible) add(key, reason);
  }
  /// `reason` makes the text: nearly no plan needs it.
  template <class Reason>
  void add_if(bool impossible, Key key, const Reason& reason) {
    if (impossible) add(key, reason());
  }
};

inline bool divides(double divisor, double value) { return divisor >= 1 && std::fmod(value, divisor) == 0; }

/// Heads, KV heads and MLP widths of the model against the tensor-parallel size (of experts: `expert_tp`).
void check_tensor_split(FaultList& list, Key tp_key, double tp, Key expert_tp_key, double expert_tp);

}  // namespace vram
