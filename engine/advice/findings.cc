#include "engine/advice/findings.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/advice/diagnose/calibrate.h"
#include "engine/advice/remedies.h"
#include "engine/units.h"

namespace vram {
namespace {

constexpr size_t kMostRemedies = 5;

void append(std::vector<Finding>& out, std::vector<Finding> more) {
  for (Finding& finding : more) out.push_back(std::move(finding));
}

void add_faults(const std::vector<Message>& faults, const char* id, std::vector<Finding>& out) {
  for (const Message& fault : faults) {
    Finding finding;
    finding.severity = Severity::error;
    finding.id = id;
    finding.text = fault.text;
    out.push_back(std::move(finding));
  }
}

const Line* largest(Lines lines) {
  const auto found =
      std::max_element(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.bytes < b.bytes; });
  return found == lines.end() ? nullptr : &*found;
}

Finding training_verdict(const Plan& plan, const TrainingBill& bill) {
  const bool exceeds = bill.verdict == Verdict::exceeds;
  const std::string need = shown_bytes(plan, static_cast<double>(bill.device_bytes));
  const std::string capacity = shown_bytes(plan, static_cast<double>(bill.capacity_bytes));
  const std::string gap = shown_bytes(plan, std::fabs(static_cast<double>(bill.headroom_bytes)));
  Finding finding;
  finding.severity = exceeds ? Severity::error : Severity::warning;
  finding.id = exceeds ? "training_exceeds" : "training_tight";
  finding.text = "Training needs " + need + " on the fullest GPU, which has " + capacity + ": " + gap +
                 (bill.headroom_bytes < 0 ? " too much" : " to spare");
  finding.text +=
      exceeds ? "."
              : ", less than the estimate's band of " + shown_bytes(plan, static_cast<double>(bill.band_bytes)) + ".";
  if (const Line* line = largest(bill.lines); line != nullptr && line->bytes > 0) {
    finding.text += std::string(" The largest item is ") + line->label + ", " +
                    shown_bytes(plan, static_cast<double>(line->bytes)) + ".";
  }
  return finding;
}

Finding serving_verdict(const Plan& plan, const ServingBill& bill) {
  const bool exceeds = bill.verdict == Verdict::exceeds;
  Finding finding;
  finding.severity = exceeds ? Severity::error : Severity::warning;
  finding.id = exceeds ? "serving_exceeds" : "serving_tight";
  if (bill.weights_bytes_per_gpu &&
      static_cast<double>(*bill.weights_bytes_per_gpu) > static_cast<double>(bill.capacity_bytes)) {
    finding.text = "Serving: the weights alone take " +
                   shown_bytes(plan, static_cast<double>(*bill.weights_bytes_per_gpu)) + " of a GPU that has " +
                   shown_bytes(plan, static_cast<double>(bill.capacity_bytes)) + ".";
    return finding;
  }
  finding.text = "Serving: a replica can promise " +
                 counted(std::floor(bill.promised_concurrency.value_or(0)), "request", "requests") + " at a time; " +
                 show_grouped(plan.concurrency) + " are asked of it.";
  return finding;
}

bool unfit(Verdict verdict) { return verdict == Verdict::exceeds || verdict == Verdict::tight; }

}  // namespace

std::vector<Finding> findings(const Plan& plan, const TrainingBill& training, const ComputeFigures& compute,
                              const ServingBill& serving, bool remedies) {
  std::vector<Finding> out;
  add_faults(training.faults, "training_invalid", out);
  add_faults(serving.faults, "serving_invalid", out);
  // Without a shape a training plan is tight at best, and no change can prove that it fits.
  const bool provable = plan.subject->has_shape || training.verdict == Verdict::exceeds;
  if (unfit(training.verdict) && provable) {
    out.push_back(training_verdict(plan, training));
    if (remedies) append(out, training_remedies(plan, training, kMostRemedies));
  }
  if (unfit(serving.verdict)) {
    out.push_back(serving_verdict(plan, serving));
    if (remedies) append(out, serving_remedies(plan, serving, kMostRemedies));
  }
  if (std::optional<Finding> shifted = calibration_finding(plan, training)) out.push_back(std::move(*shifted));
  if (std::optional<Finding> shifted = serving_calibration(plan, serving)) out.push_back(std::move(*shifted));
  append(out, notices(plan, training, compute, serving));
  return out;
}

}  // namespace vram
