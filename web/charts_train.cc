// The pictures of the Train view.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/training/timeline.h"
#include "web/charts.h"

namespace vram {
namespace {

Units units_in(const Plan& plan) { return plan.units == UnitsChoice::gb ? Units::gb : Units::gib; }

/// Puts the lines of a bill upon the chart's last point.
void add_lines(Lines lines, Chart& chart) {
  if (chart.series.empty())
    for (const Line& line : lines) chart.series.push_back({line.label, line_rgb(lines, line.id), {}});
  for (size_t i = 0; i < chart.series.size(); i++)
    chart.series[i].values.push_back(i < lines.size() ? static_cast<double>(lines[i].bytes) : 0);
}

constexpr size_t kColumns = 200;      // of a step: one or two points of the screen each
constexpr double kRepeatShare = 0.1;  // of the picture: micro-batches that repeat are drawn no longer

/// The step on the axis of the picture: to scale, but for a long stretch of the same again.
struct Axis {
  double span = 1, repeats_from = 0, repeats_for = 0, shortened = 0;

  Axis(const std::vector<const TimelinePoint*>& points, double seconds) : span(seconds) {
    for (size_t i = 0; i + 1 < points.size(); i++) {
      if (std::string_view(points[i]->event) != "repeats") continue;
      repeats_from = points[i]->t;
      repeats_for = points[i + 1]->t - repeats_from;
    }
    shortened = std::min(repeats_for, (span - repeats_for) * kRepeatShare);
  }
  double at(double t) const {
    const double in = std::clamp(t - repeats_from, 0.0, repeats_for);
    const double stretch = repeats_for > 0 ? shortened / repeats_for : 1;
    return (t - in * (1 - stretch)) / (span - repeats_for + shortened);
  }
};

/// The fullest moment of each column; a moment lasts until the next one.
std::vector<const TimelinePoint*> columns_of(const std::vector<const TimelinePoint*>& points, const Axis& axis) {
  std::vector<const TimelinePoint*> columns(kColumns, nullptr);
  const auto column = [&](double t) {
    return std::min(static_cast<size_t>(axis.at(t) * static_cast<double>(kColumns)), kColumns - 1);
  };
  for (size_t i = 0; i < points.size(); i++) {
    const size_t last = column(i + 1 < points.size() ? points[i + 1]->t : axis.span);
    for (size_t c = column(points[i]->t); c <= last; ++c)
      if (!columns[c] || columns[c]->allocated_bytes < points[i]->allocated_bytes) columns[c] = points[i];
  }
  return columns;
}

/// The phase of the bill that a moment belongs to.
std::string phase_of(const TimelinePoint& point) {
  const std::string_view event = point.event;
  if (event == "weights") return "backward";
  return event == "waiting" || event == "repeats" || event == "end" ? "" : std::string(event);
}

std::string moment_of(const TimelinePoint& point) {
  std::string text = point.event;
  if (std::string_view(point.event) == "repeats") text = "the same again and again";
  if (point.layer >= 0) text += ", layer " + std::to_string(point.layer);
  if (point.micro_batch > 0) text += ", micro-batch " + std::to_string(point.micro_batch);
  return text;
}

/// Bytes of each line at one moment: what comes and goes, what stays, and buffers as the rest.
double bytes_at(const TimelinePoint& point, const Line& line, double kept) {
  const std::string_view id = line.id;
  if (id == "gradients") return static_cast<double>(point.gradients_bytes);
  if (id == "activations") return static_cast<double>(point.activations_bytes);
  if (id == "logits") return static_cast<double>(point.logits_bytes);
  if (id == "gathered") return static_cast<double>(point.gathered_bytes);
  if (id != "buffers") return static_cast<double>(line.bytes);
  const uint64_t passing = point.gradients_bytes + point.activations_bytes + point.logits_bytes + point.gathered_bytes;
  return std::max(0.0, static_cast<double>(point.allocated_bytes - passing) - kept);
}

/// What stays all step long, but for buffers.
double kept_bytes(Lines lines) {
  double kept = 0;
  for (const Line& line : lines)
    for (const char* id : {"weights", "optimizer", "adapters"})
      if (std::string_view(line.id) == id) kept += static_cast<double>(line.bytes);
  return kept;
}

/// Memory along one step of the fullest stage.
Chart step_chart(const Report& report) {
  const TrainingBill& training = report.training;
  Chart chart{.name = "chart.step",
              .title = "One training step",
              .kind = Chart::Kind::steps,
              .units = units_in(report.plan),
              .capacity = static_cast<double>(training.capacity_bytes),
              .phases = true};
  if (training.stages.size() > 1) chart.title += " on stage " + std::to_string(training.stage);
  const double span = report.compute.step_seconds.value_or(1);
  const std::vector<TimelinePoint> timeline = training_timeline(report.plan, span, training.stage);
  Lines lines = step_phases(training.phases).front().lines;
  const double kept = kept_bytes(lines);
  for (const Line& line : lines) chart.series.push_back({line.label, line_rgb(lines, line.id), {}});
  std::vector<const TimelinePoint*> points;
  for (const TimelinePoint& point : timeline) points.push_back(&point);
  const Axis axis(points, span);
  for (const TimelinePoint* point : columns_of(points, axis)) {
    if (!point) continue;
    const double at = static_cast<double>(chart.points.size()) / static_cast<double>(kColumns);
    chart.points.push_back({at, "", moment_of(*point), phase_of(*point)});
    if (report.compute.step_seconds) chart.points.back().facts = {{"Since the step began", show_duration(point->t)}};
    for (size_t i = 0; i < lines.size(); i++) chart.series[i].values.push_back(bytes_at(*point, lines[i], kept));
  }
  if (chart.empty()) return chart;
  chart.points.front().tick = "0";
  const auto from =
      static_cast<size_t>(axis.at(axis.repeats_from + axis.repeats_for / 2) * static_cast<double>(kColumns));
  if (axis.shortened > 0 && from < chart.points.size()) chart.points[from].tick = "repeats";
  chart.points.back().tick = report.compute.step_seconds ? show_duration(span) : "1";
  return chart;
}

/// The same plan at other sequence lengths.
Chart sequence_chart(const Report& report) {
  Chart chart{.name = "chart.seq",
              .title = "Memory against sequence length",
              .units = units_in(report.plan),
              .capacity = static_cast<double>(report.training.capacity_bytes)};
  if (!report.plan.subject->has_shape) return chart;
  constexpr double kTimes[] = {0.25, 0.3535533905932738, 0.5, 0.7071067811865476, 1, 1.4142135623730951,
                               2,    2.8284271247461903, 4};  // in half octaves
  for (size_t i = 0; i < std::size(kTimes); i++) {
    Plan plan = report.plan;
    const bool octave = i % 2 == 0, own = kTimes[i] == 1;
    double seq = std::ceil(plan.seq * kTimes[i]);
    if (!octave) seq = std::ceil(seq / 256) * 256;
    if (!set_value(plan, Key::seq, write_number(seq), nullptr)) continue;
    const TrainingBill bill = training_bill(plan);
    if (bill.verdict == Verdict::invalid || bill.lines.empty()) continue;
    if (own) chart.own = static_cast<int>(chart.points.size());
    chart.points.push_back({static_cast<double>(i) / (std::size(kTimes) - 1), octave ? short_tokens(seq) : "",
                            show_grouped(seq) + " tokens", own ? "" : "seq=" + write_number(seq)});
    add_lines(bill.lines, chart);
  }
  return chart;
}

const char* word_of(Verdict verdict) {
  return verdict == Verdict::fits ? "fits" : verdict == Verdict::tight ? "tight" : "does not fit";
}

/// The same run on other numbers of GPUs.
Chart gpus_chart(const Report& report) {
  Chart chart{.name = "chart.gpus",
              .title = "Time and cost against GPUs",
              .kind = Chart::Kind::columns,
              .measure = Chart::Measure::days};
  chart.series = {{"The whole run", line_rgb({}, "weights"), {}}, {"The whole run", line_rgb({}, ""), {}}};
  constexpr double kFactors[] = {0.5, 1, 2, 4, 8};
  for (const double factor : kFactors) {
    Plan plan = report.plan;
    const double gpus = plan.gpus * factor;
    if (gpus != std::floor(gpus) || !set_value(plan, Key::gpus, write_number(gpus), nullptr)) continue;
    const TrainingTotals totals = training_totals(plan);
    const ComputeFigures figures = totals.verdict == Verdict::invalid ? ComputeFigures{} : compute_figures(plan);
    if (!figures.days) continue;
    if (factor == 1) chart.own = static_cast<int>(chart.points.size());
    const bool fits = totals.verdict != Verdict::exceeds;
    chart.points.push_back({0, show_grouped(gpus), show_grouped(gpus) + (gpus == 1 ? " GPU" : " GPUs"),
                            factor == 1 ? "" : "gpus=" + write_number(gpus)});
    chart.series[0].values.push_back(fits ? *figures.days : 0);
    chart.series[1].values.push_back(fits ? 0 : *figures.days);
    Chart::Point& point = chart.points.back();
    if (figures.usd) point.facts.emplace_back("Cost", point.note = dollars(*figures.usd));
    if (!plan.has(Key::global_batch)) point.facts.emplace_back("Global batch", show_grouped(plan.global_batch));
    point.facts.emplace_back("Memory", word_of(totals.verdict));
  }
  for (size_t i = 0; i < chart.points.size(); i++)
    chart.points[i].at = static_cast<double>(i) / static_cast<double>(chart.points.size());
  return chart;
}

}  // namespace

std::string dollars(double usd) {
  return "$ " + (usd < 1000 ? show_fixed(usd, 2) : usd < 1e6 ? show_grouped(std::round(usd)) : show_count(usd));
}

std::string short_tokens(double tokens) {
  return tokens >= 1024 && tokens == std::floor(tokens / 1024) * 1024 ? write_number(tokens / 1024) + "k"
                                                                      : show_grouped(tokens);
}

std::span<const ChartMaker> train_charts() {
  static constexpr ChartMaker kMakers[] = {step_chart, sequence_chart, gpus_chart};
  return kMakers;
}

}  // namespace vram
