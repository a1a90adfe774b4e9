#include "engine/report/made.h"

#include <cmath>

#include "engine/plan/made.h"
#include "engine/report/figures.h"
#include "engine/units.h"

namespace vram {
namespace {

constexpr double kLastDigit = 0.1;

Made figures_of(const Report& report) {
  Made made{kEngineVersion, {}, {}, plan_mark(report.plan)};
  if (report.training.verdict != Verdict::invalid)
    made.training_gib = static_cast<double>(report.training.device_bytes) / kGiB;
  if (report.serving.verdict != Verdict::invalid && report.serving.max_concurrency)
    made.requests = std::floor(*report.serving.max_concurrency * 10) / 10;
  return made;
}

/// Both are shown to one digit after the point: of what was cut there, half a digit may be missing.
bool differ(const std::optional<double>& a, const std::optional<double>& b) {
  return a && b && std::fabs(*a - *b) > 1.5 * kLastDigit;
}

std::string said(const Report& report, const Made& made, bool training, bool serving, bool whole) {
  std::string text;
  if (training) {
    const bool gb = report.plan.units == UnitsChoice::gb;
    text = show_fixed(*made.training_gib * (gb ? kGiB / kGB : 1), 1) + (gb ? " GB" : " GiB");
    if (whole) text += " a GPU";
  }
  if (training && serving) text += " and ";
  if (serving) text += requests_count(*made.requests) + " requests" + (whole ? " at a time" : "");
  return text;
}

}  // namespace

std::string made_here(const Report& report) { return report.answered ? write_made(figures_of(report)) : ""; }

std::string share_to_give(const Report& report) {
  Plan plan = report.plan;
  if (report.answered) set_value(plan, Key::made, made_here(report), nullptr);
  return write_plan(plan, true);
}

void note_changed_figures(Report& report) {
  const std::optional<Made> then = made_of(report.plan);
  if (!then) return;
  const Made now = figures_of(report);
  const bool training = differ(then->training_gib, now.training_gib), serving = differ(then->requests, now.requests);
  if (!training && !serving) return;
  report.messages.push_back({"made", report.plan.made,
                             "This link was made with version " + then->version + ", which said " +
                                 said(report, *then, training, serving, true) + "; this version says " +
                                 said(report, now, training, serving, false) + " (see the changelog)."});
}

}  // namespace vram
