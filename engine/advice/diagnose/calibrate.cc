#include "engine/advice/diagnose/calibrate.h"

#include <algorithm>
#include <cmath>

#include "engine/advice/remedies.h"
#include "engine/units.h"

namespace vram {
namespace {

constexpr double kMostRatio = 3;

/// Of the allocated lines, what comes and goes in a step.
double passing_bytes(const TrainingBill& bill) {
  double bytes = 0;
  for (const Line& line : bill.lines) {
    const std::string_view id = line.id;
    if (id == "activations" || id == "logits" || id == "gathered" || id == "buffers") {
      bytes += static_cast<double>(line.bytes);
    }
  }
  return bytes;
}

double shift_of(const TrainingBill& before, const TrainingBill& after, double missing) {
  const double was = passing_bytes(before), is = passing_bytes(after);
  const double ratio = was > 0 ? (was + missing) / was : 0;
  const bool plausible = ratio >= 1 / kMostRatio && ratio <= kMostRatio;
  return plausible ? missing * (is / was) : missing;
}

double overhead_of(uint64_t larger, uint64_t smaller) {
  return static_cast<double>(larger) - static_cast<double>(smaller);
}

const char* verdict_of(const Plan& plan, const TrainingBill& bill, double device) {
  if (device > static_cast<double>(bill.capacity_bytes)) return "does not fit";
  return plan.subject->has_shape ? "fits" : "may fit";
}

}  // namespace

std::string shifts_of(const Plan& plan) {
  return std::string("What was measured ") + (plan.measured_with.empty() ? "on this plan" : "before the changes") +
         " shifts ";
}

std::string shift_text(const Plan& plan, double bytes) {
  return (bytes < 0 ? "−" : "+") + shown_bytes(plan, std::fabs(bytes));
}

std::optional<Measured> measured_peak(const Measured& measured, const TrainingBill& bill) {
  if (!measured.failed) return measured;
  const double least = measured.allocated.value_or(0) + measured.tried.value_or(0);
  if (!measured.allocated || least <= static_cast<double>(bill.allocated_bytes)) return std::nullopt;
  Measured peak = measured;
  peak.allocated = least;
  peak.reserved.reset();
  peak.device.reset();
  peak.process.reset();
  return peak;
}

std::optional<Calibrated> calibrated(const TrainingBill& measured_bill, const TrainingBill& bill,
                                     const Measured& measured) {
  if (measured_bill.verdict == Verdict::invalid || bill.verdict == Verdict::invalid) return std::nullopt;
  if (!measured.allocated && !measured.reserved && !measured.device) return std::nullopt;
  const TrainingBill& was = measured_bill;
  double fragmentation = overhead_of(bill.reserved_bytes, bill.allocated_bytes);
  double outside = overhead_of(bill.device_bytes, bill.reserved_bytes);
  // The readings above the measured one keep their own difference; without one it is the estimate's.
  const double was_fragmentation = overhead_of(was.reserved_bytes, was.allocated_bytes);
  const double was_outside = overhead_of(was.device_bytes, was.reserved_bytes);
  std::optional<double> allocated = measured.allocated;
  if (allocated && measured.reserved) {
    const double found = std::max(0.0, *measured.reserved - *allocated);
    fragmentation = was_fragmentation > 0 ? fragmentation * (found / was_fragmentation) : found;
  }
  if (measured.reserved && measured.device) {
    outside += std::max(0.0, *measured.device - *measured.reserved) - was_outside;
  }
  if (!allocated && measured.reserved) allocated = *measured.reserved - was_fragmentation;
  if (!allocated) allocated = *measured.device - was_outside - was_fragmentation;
  Calibrated out;
  const double missing = *allocated - static_cast<double>(was.allocated_bytes);
  out.allocated = std::max(0.0, static_cast<double>(bill.allocated_bytes) + shift_of(was, bill, missing));
  out.reserved = out.allocated + std::max(0.0, fragmentation);
  out.device = out.reserved + std::max(0.0, outside);
  return out;
}

std::optional<Finding> calibration_finding(const Plan& plan, const TrainingBill& bill) {
  const bool any =
      plan.has(Key::measured_allocated) || plan.has(Key::measured_reserved) || plan.has(Key::measured_device);
  if (!any) return std::nullopt;
  const Measured measured = measured_of({}, plan);
  if (!measured.allocated && !measured.reserved && !measured.device) return std::nullopt;
  const Plan base = plan_when_measured(plan);
  const TrainingBill before = training_bill(base);
  const std::optional<Calibrated> now = calibrated(before, bill, measured);
  if (!now) return std::nullopt;
  const double shift = now->device - static_cast<double>(bill.device_bytes);
  Finding finding;
  finding.id = "calibrated";
  finding.severity = now->device > static_cast<double>(bill.capacity_bytes) ? Severity::warning : Severity::info;
  finding.text = shifts_of(plan) + "the estimate of a GPU by " + shift_text(plan, shift) + ": to " +
                 shown_bytes(plan, now->device) + " (allocated " + shown_bytes(plan, now->allocated) + ", reserved " +
                 shown_bytes(plan, now->reserved) + "), which " + verdict_of(plan, bill, now->device) + ".";
  return finding;
}

}  // namespace vram
