#pragma once

#include <string>
#include <vector>

#include "engine/advice/diagnose/diagnose.h"
#include "engine/serving/serving.h"
#include "engine/training/training.h"

namespace vram {

/// What the rules of a diagnosis look at, and what they say.
struct Case {
  const Plan& plan;
  const TrainingBill& training;
  const ServingBill& serving_bill;
  const Measured& measured;
  bool serving;
  bool names_model;  // the plan or the log does
  bool assumed;      // nothing may be said by the bill
  std::vector<Finding>& findings;
  std::optional<Measured> peak;  // what the bill can be calibrated with; empty: the run never came to its peak
  Symptom symptom = Symptom::none;

  std::string shown(double bytes) const;
  void say(Severity severity, const char* id, std::string text, std::string change = "");
};

inline constexpr double kOtherCard = 0.08;  // what CUDA, the driver and the box say of one GPU differs by less

/// A figure of one reading, 0 where it is not known.
inline double known(const std::optional<double>& value) { return value.value_or(0); }

/// A limit that was set, below the end of the memory, is what refused the allocation.
bool at_cap(const Measured& measured);

/// Figures that contradict each other, or the plan. True where no cause may be drawn from them.
bool find_contradictions(Case& c);

/// Host memory, shared memory, on-chip memory: another resource than the GPU's. True where it is one of them.
bool find_other_resource(Case& c);

/// Causes in the order in which they are told apart, and the symptom.
void find_training_causes(Case& c);
void find_serving_causes(Case& c);

/// What would help against the symptom, by what it saves in this plan.
void add_cures(Case& c);

}  // namespace vram
