#include <algorithm>
#include <array>

#include "engine/report/figures.h"
#include "engine/training/timeline.h"

namespace vram {
namespace {

constexpr size_t kColumns = 48;
constexpr const char* kHeights[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/// The most allocated in each column's share of the step: a point holds until the stage's next one.
std::array<uint64_t, kColumns> columns_of(const std::vector<TimelinePoint>& points, double span) {
  std::array<uint64_t, kColumns> columns{};
  for (size_t i = 0; i < points.size(); ++i) {
    const double end = i + 1 < points.size() ? points[i + 1].t : span;
    const auto first = static_cast<size_t>(points[i].t / span * kColumns);
    const auto last = static_cast<size_t>(end / span * kColumns);
    for (size_t c = first; c <= std::min(last, kColumns - 1); ++c)
      columns[c] = std::max(columns[c], points[i].allocated_bytes);
  }
  return columns;
}

std::string row(const Report& report, const std::vector<TimelinePoint>& points, double span, uint64_t scale) {
  std::string bars;
  uint64_t most = 0;
  for (uint64_t bytes : columns_of(points, span)) {
    most = std::max(most, bytes);
    bars += kHeights[scale > 0 ? (bytes * 8 + scale - 1) / scale : 0];
  }
  std::string stage = std::to_string(points.front().stage);
  stage.insert(0, stage.size() < 4 ? 4 - stage.size() : 0, ' ');
  return "  stage " + stage + "  " + bars + "  " + shown(report, static_cast<double>(most)) + "\n";
}

}  // namespace

std::string timeline_text(const Report& report) {
  const std::vector<TimelinePoint> all = training_timeline(report.plan, report.compute.step_seconds.value_or(1));
  if (report.training.verdict == Verdict::invalid || all.empty()) return "";
  double span = 0;
  uint64_t scale = 0;
  for (const TimelinePoint& point : all) {
    span = std::max(span, point.t);
    scale = std::max(scale, point.allocated_bytes);
  }
  std::string text = "\nAllocated along a training step, from its begin to its end\n\n";
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end].stage == all[begin].stage) ++end;
    text += row(report, {all.begin() + static_cast<ptrdiff_t>(begin), all.begin() + static_cast<ptrdiff_t>(end)}, span,
                scale);
  }
  return text;
}

}  // namespace vram
