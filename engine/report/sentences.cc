#include "engine/report/figures.h"
#include "engine/units.h"

namespace vram {
namespace {

/// Three digits say enough in a sentence.
std::string brief(const Report& report, uint64_t bytes) {
  const double value = static_cast<double>(bytes) / (report.plan.units == UnitsChoice::gb ? kGB : kGiB);
  return value >= 1000 ? show_grouped(value) : show_fixed(value, 1);
}

std::string of_capacity(const Report& report, uint64_t need, uint64_t capacity) {
  return brief(report, need) + " of " + brief(report, capacity) + " " + amount_unit(report);
}

std::string first_text(const std::vector<Message>& faults, const char* otherwise) {
  return faults.empty() ? otherwise : faults.front().text;
}

std::string training_sentence(const Report& report) {
  const TrainingBill& bill = report.training;
  if (bill.verdict == Verdict::invalid) {
    return "Impossible as planned: " + first_text(bill.faults, "the plan has no training bill") + ".";
  }
  const char* verdict = bill.verdict == Verdict::fits    ? "Fits: "
                        : bill.verdict == Verdict::tight ? "Tight: "
                                                         : "Does not fit: ";
  std::string text = verdict + of_capacity(report, bill.device_bytes, bill.capacity_bytes);
  if (report.plan.pp > 1) text += " on stage " + std::to_string(bill.stage);
  if (*bill.phase) text += (report.plan.pp > 1 ? ", " : " ") + phase_place(bill.phase);
  text += " (± " + brief(report, bill.band_bytes) + ").";
  if (!report.plan.subject->has_shape) text += " The model has no shape: activations are not in it.";
  return text;
}

std::string speed_clause(const Report& report) {
  const ComputeFigures& compute = report.compute;
  if (!compute.mfu) return "";
  const bool estimated = std::string_view(compute.mfu_source) == "estimated";
  const std::string band = estimated && compute.mfu_band ? " ± " + percent(*compute.mfu_band) : "";
  return " at " + percent(*compute.mfu) + band + (estimated ? " MFU (an estimate)" : " MFU");
}

std::string run_sentence(const Report& report) {
  const ComputeFigures& compute = report.compute;
  std::string text = flops_text(*compute.model_flops);
  if (report.training.verdict == Verdict::invalid) return text + "; an impossible plan has no speed.";
  if (!compute.days) return text + "; the GPU's speed is not known.";
  const std::string gpus = report.plan.gpus > 1 ? show_grouped(report.plan.gpus) + " GPUs" : "one GPU";
  text += ": " + show_duration(*compute.days * 86400) + " on " + gpus + speed_clause(report);
  if (compute.usd) text += ", " + usd_text(*compute.usd);
  return text + ".";
}

std::string compute_sentence(const Report& report) {
  const ComputeFigures& compute = report.compute;
  if (compute.model_flops) return run_sentence(report);
  if (!compute.flops_per_token) return "The model has no parameters to count FLOPs from.";
  const std::string each = flops_text(*compute.flops_per_token) + " a token";
  if (report.training.verdict == Verdict::invalid) return each + "; an impossible plan has no speed.";
  if (!compute.tokens_per_second || !compute.step_seconds) return each + "; the GPU's speed is not known.";
  return each + ": " + show_count(*compute.tokens_per_second) + " tokens/s, " + show_duration(*compute.step_seconds) +
         " a step" + speed_clause(report) + ".";
}

std::string pace(const ServingBill& bill) {
  if (!bill.decode_seconds_per_token) return "";
  std::string text = "; " + show_duration(*bill.decode_seconds_per_token) + " a token";
  if (bill.prefill_seconds) text += " after " + show_duration(*bill.prefill_seconds);
  return text;
}

std::string serving_sentence(const Report& report) {
  const ServingBill& bill = report.serving;
  const Plan& plan = report.plan;
  if (bill.verdict == Verdict::invalid) {
    return "Impossible as planned: " + first_text(bill.faults, "the plan has no serving bill") + ".";
  }
  const double length = plan.prompt + plan.output;
  const std::string asked = show_grouped(plan.concurrency) + (plan.concurrency == 1 ? " request" : " requests") +
                            " of " + show_grouped(length) + " tokens";
  if (!bill.max_concurrency) return "How many requests of " + show_grouped(length) + " tokens fit is not known.";
  const std::string room = requests_count(*bill.max_concurrency) + " fit, " +
                           requests_count(bill.promised_concurrency.value_or(0)) + " can be promised";
  if (bill.verdict == Verdict::fits) return "Serves " + asked + ": " + room + pace(bill) + ".";
  return (bill.verdict == Verdict::tight ? "Tight for " : "Does not serve ") + asked + ": " + room + ".";
}

}  // namespace

std::vector<std::string> headline_sentences(const Report& report) {
  if (!report.answered) return {};
  return {training_sentence(report), compute_sentence(report), serving_sentence(report)};
}

}  // namespace vram
