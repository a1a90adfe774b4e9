#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/advice/diagnose/measured.h"
#include "engine/advice/findings.h"
#include "engine/plan/measured_with.h"

namespace vram {

/// The peak that a run showed. Where an allocation was refused the peak was not reached: what was allocated and what
/// was refused on top are the least it can be, which says nothing where the bill has more.
std::optional<Measured> measured_peak(const Measured& measured, const TrainingBill& bill);

/// What a bill becomes in the light of what was measured on another one.
struct Calibrated {
  double allocated = 0, reserved = 0, device = 0;
};

/// States are counted, so what they leave of a measured peak (activations, logits, buffers) is what the estimate
/// misses by: that part is scaled as it was found too small or too large, at most threefold; beyond that, and where
/// the plan has no such part, the bytes missing are added. Fragmentation likewise goes with it. What lies outside the
/// framework does not depend on the batch: there the difference is added.
std::optional<Calibrated> calibrated(const TrainingBill& measured_bill, const TrainingBill& bill,
                                     const Measured& measured);

/// "What was measured before the changes shifts ": how a calibration's finding begins.
std::string shifts_of(const Plan& plan);

/// With its sign.
std::string shift_text(const Plan& plan, double bytes);

/// The finding that says so, where the plan carries measured figures. Empty where there are none to compare.
std::optional<Finding> calibration_finding(const Plan& plan, const TrainingBill& bill);

/// The same of a server: its KV cache, the tokens in it, the times of a request.
std::optional<Finding> serving_calibration(const Plan& plan, const ServingBill& bill);

}  // namespace vram
