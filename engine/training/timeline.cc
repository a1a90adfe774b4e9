#include "engine/training/timeline.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "engine/training/phases.h"
#include "engine/training/saved_tensors.h"
#include "engine/training/simulate.h"

namespace vram {
namespace {

constexpr double kMostStages = 128, kMostKept = 512;  // beyond: phases only
constexpr size_t kMostPoints = 1 << 16;               // beyond: whole passes instead of layers

uint64_t bytes_of(Lines lines, std::string_view id) {
  for (const Line& line : lines)
    if (id == line.id) return line.bytes;
  return 0;
}

/// What comes and goes, at one moment.
struct Parts {
  uint64_t gradients = 0, activations = 0, gathered = 0, logits = 0;
};

Parts parts_of(Lines lines) {
  return {bytes_of(lines, "gradients"), bytes_of(lines, "activations"), bytes_of(lines, "gathered"),
          bytes_of(lines, "logits")};
}

TimelinePoint moment_of(double t, int stage, const char* event, uint64_t kept, const Parts& parts) {
  TimelinePoint point{t, stage, event};
  point.gradients_bytes = parts.gradients;
  point.activations_bytes = parts.activations;
  point.gathered_bytes = parts.gathered;
  point.logits_bytes = parts.logits;
  point.allocated_bytes = kept + parts.gradients + parts.activations + parts.gathered + parts.logits;
  return point;
}

TimelinePoint moment_of(double t, int stage, const Phase& phase) {
  const Parts parts = parts_of(phase.lines);
  const uint64_t passing = parts.gradients + parts.activations + parts.gathered + parts.logits;
  return moment_of(t, stage, phase.id, phase.allocated_bytes - passing, parts);
}

/// A stage's memory in parts that come and go, from the phases of its bill.
struct Memory {
  uint64_t kept = 0;  // weights, optimizer, adapters, buffers
  uint64_t gathered = 0, gathered_backward = 0, gradients = 0, logits = 0;
  bool gradients_come = false;             // layer by layer during backward
  uint64_t saved = 0, saved_backward = 0;  // activations of all chunks in flight
  uint64_t working = 0;                    // of the layer in backward
  uint64_t peak = 0;
  std::vector<Phase> phases;
};

const Phase* phase_of(const Memory& memory, std::string_view id) {
  for (const Phase& phase : memory.phases)
    if (id == phase.id) return &phase;
  return nullptr;
}

Memory memory_of(Sheet& sheet, const Plan& plan, const Stage& stage) {
  Memory m;
  m.phases = stage_phases(sheet, plan, stage);
  for (const Phase& phase : step_phases(m.phases)) m.peak = std::max(m.peak, phase.allocated_bytes);
  Lines forward = phase_of(m, "forward")->lines;
  Lines backward = phase_of(m, "backward")->lines;
  for (const char* id : {"weights", "optimizer", "adapters", "buffers"}) m.kept += bytes_of(forward, id);
  m.gathered = bytes_of(forward, "gathered");
  m.gathered_backward = bytes_of(backward, "gathered");
  m.saved = bytes_of(forward, "activations");
  for (const Line& line : backward)
    if (std::string_view(line.id) == "activations") m.working = bytes_of(line.children, "working");
  m.saved_backward = bytes_of(backward, "activations") - m.working;
  m.gradients_come = bytes_of(forward, "gradients") == 0;
  m.gradients = bytes_of(phase_of(m, "reduce")->lines, "gradients");
  if (const Phase* loss = phase_of(m, "loss"))
    m.logits = loss->allocated_bytes - phase_of(m, "forward")->allocated_bytes;
  return m;
}

/// What one layer keeps until backward, in a measure of its own.
double kept_by_layer(const Plan& plan, size_t layer) {
  if (plan.recompute == Recompute::full) return 1;
  const LayerKind& kind = plan.subject->layer(layer);
  return std::max(1e-9, bytes_per_token(saved_tensors(plan, layer_setting(plan, kind), kind)));
}

/// A chunk's layers as shares of its passes.
struct Chunk {
  std::vector<double> work, kept;  // layer by layer; each adds up to 1, work with the head's to 1
  size_t first = 0;
  bool last = false;  // has the loss
};

Chunk chunk_of(const Plan& plan, const Stage& stage, int index) {
  Chunk chunk;
  const LayerRange range = stage.ranges[static_cast<size_t>(index)];
  chunk.first = range.first;
  chunk.last = chunk_position(plan, stage.index, index) == chunks_on_the_way(plan) - 1;
  double work = chunk.last ? head_work(plan) : 0, kept = 0;
  for (size_t i = 0; i < range.count; ++i) {
    chunk.work.push_back(layer_work(plan, range.first + i));
    chunk.kept.push_back(kept_by_layer(plan, range.first + i));
    work += chunk.work.back();
    kept += chunk.kept.back();
  }
  for (double& share : chunk.work) share /= work;
  for (double& share : chunk.kept) share /= kept;
  return chunk;
}

/// The most chunks whose activations live at once.
int most_in_flight(const std::vector<TimedPass>& passes) {
  int live = 0, most = 1;
  for (const TimedPass& timed : passes) {
    if (timed.pass.kind == PassKind::forward) most = std::max(most, ++live);
    if (timed.pass.frees) --live;
  }
  return most;
}

/// Writes down one stage's points while its passes go by.
class StageTrace {
 public:
  StageTrace(Sheet& sheet, const Plan& plan, const Stage& stage, std::vector<TimedPass> passes, bool by_layer)
      : memory_(memory_of(sheet, plan, stage)), passes_(std::move(passes)), by_layer_(by_layer) {
    for (size_t c = 0; c < stage.ranges.size(); ++c) chunks_.push_back(chunk_of(plan, stage, static_cast<int>(c)));
    stage_ = stage.index;
    layers_ = std::max(1.0, stage.layers);
    most_ = most_in_flight(passes_);
  }

  /// `tail`: how long reduction and optimizer are drawn.
  std::vector<TimelinePoint> run(double tail) {
    double at = 0;
    for (const TimedPass& timed : passes_) {
      if (timed.begin > at) add(at, "waiting", {gradients(), saved(memory_.saved, live_), memory_.gathered});
      pass_by(timed);
      at = timed.end;
    }
    add_phase(at, "reduce");
    add_phase(at + tail, "optimizer");
    add(at + 2 * tail, "end", {bytes_of(phase_of(memory_, "forward")->lines, "gradients")});
    return std::move(points_);
  }

 private:
  /// `all` is there when `most_` chunks are.
  uint64_t saved(uint64_t all, double live) const {
    return static_cast<uint64_t>(std::floor(static_cast<double>(all) * std::clamp(live / most_, 0.0, 1.0)));
  }
  uint64_t gradients() const {
    if (!memory_.gradients_come) return memory_.gradients;
    return static_cast<uint64_t>(static_cast<double>(memory_.gradients) * std::min(1.0, done_ / layers_));
  }
  /// The bill's phases are the account; shares between them may not exceed it.
  void add(double t, const char* event, Parts parts, int micro_batch = -1, int layer = -1) {
    const uint64_t all = memory_.kept + parts.gradients + parts.activations + parts.gathered + parts.logits;
    if (all > memory_.peak) parts.activations -= std::min(parts.activations, all - memory_.peak);
    TimelinePoint point = moment_of(t, stage_, event, memory_.kept, parts);
    point.allocated_bytes = std::min(point.allocated_bytes, memory_.peak);
    point.micro_batch = micro_batch;
    point.layer = layer;
    points_.push_back(point);
  }
  void add_phase(double t, const char* id) { points_.push_back(moment_of(t, stage_, *phase_of(memory_, id))); }

  void pass_by(const TimedPass& timed) {
    const Chunk& chunk = chunks_[static_cast<size_t>(timed.pass.chunk)];
    if (timed.pass.kind == PassKind::forward) return forward(timed, chunk);
    backward(timed, chunk);
  }

  void forward(const TimedPass& timed, const Chunk& chunk) {
    const double length = timed.end - timed.begin;
    Parts parts{gradients(), 0, memory_.gathered};
    double at = timed.begin, kept = 0;
    for (size_t i = 0; i < chunk.work.size(); ++i) {
      kept += chunk.kept[i];
      const bool all = i + 1 == chunk.work.size();
      parts.activations = saved(memory_.saved, live_ + (all ? 1 : kept));
      if (by_layer_ || all)
        add(by_layer_ ? at : timed.begin, "forward", parts, timed.pass.micro_batch,
            by_layer_ ? static_cast<int>(chunk.first + i) : -1);
      at += length * chunk.work[i];
    }
    ++live_;
    parts.logits = memory_.logits;
    if (chunk.last && memory_.logits > 0) add(at, "loss", parts, timed.pass.micro_batch);
  }

  void backward(const TimedPass& timed, const Chunk& chunk) {
    const bool weights = timed.pass.kind == PassKind::weights;
    const char* event = weights ? "weights" : "backward";
    const double length = timed.end - timed.begin;
    double at = timed.end, freed = 0;
    for (double share : chunk.work) at -= length * share;  // the head's backward comes first
    for (size_t n = chunk.work.size(); n-- > 0;) {
      const bool first = n + 1 == chunk.work.size();
      if (by_layer_ || first)
        add(at, event,
            {gradients(), memory_.working + saved(memory_.saved_backward, live_ - freed), memory_.gathered_backward},
            timed.pass.micro_batch, by_layer_ ? static_cast<int>(chunk.first + n) : -1);
      at += length * chunk.work[n];
      if (!timed.pass.frees) continue;
      freed += chunk.kept[n];
      ++done_;
    }
    if (timed.pass.frees) --live_;
  }

  Memory memory_;
  std::vector<TimedPass> passes_;
  bool by_layer_;
  std::vector<Chunk> chunks_;
  int stage_ = 0, most_ = 1;
  double layers_ = 1, live_ = 0, done_ = 0;
  std::vector<TimelinePoint> points_;
};

/// Micro-batches to draw: all where they are few, else enough to fill the pipeline, repeat and drain it.
double drawn_micro_batches(const Plan& plan) {
  const double all = plan.micro_batches(), some = std::max(4.0, 4 * plan.pp);
  return plan.schedule == Schedule::gpipe ? all : std::min(all, some);
}

bool has_passes(const Plan& plan) {
  return plan.subject->has_shape && plan.pp <= kMostStages && drawn_micro_batches(plan) <= kMostKept;
}

/// Without layers, or with too many passes to draw: the phases of a step, one after the other.
void add_phases(Sheet& sheet, const Plan& plan, const Stage& stage, std::vector<TimelinePoint>& points) {
  const Memory memory = memory_of(sheet, plan, stage);
  const std::span<const Phase> phases = step_phases(memory.phases);
  const double count = static_cast<double>(phases.size());
  for (size_t i = 0; i < phases.size(); ++i)
    points.push_back(moment_of(static_cast<double>(i) / count, stage.index, phases[i]));
}

/// Work of a micro-batch on the busiest rank: how long each one takes while they repeat.
double period_of(const std::vector<std::vector<TimedPass>>& ranks, double micro_batches) {
  double most = 0;
  for (const std::vector<TimedPass>& passes : ranks) {
    double work = 0;
    for (const TimedPass& timed : passes) work += timed.end - timed.begin;
    most = std::max(most, work / micro_batches);
  }
  return most;
}

/// Puts `more` micro-batches into the middle of a stage's points.
void repeat(double middle, double period, double more, int numbers, std::vector<TimelinePoint>& points) {
  const auto later = std::find_if(points.begin(), points.end(), [&](const TimelinePoint& p) { return p.t >= middle; });
  if (later == points.begin() || later == points.end()) return;
  TimelinePoint rest = *std::prev(later);
  for (const TimelinePoint& p : points)
    if (std::abs(p.t - middle) <= period && p.allocated_bytes > rest.allocated_bytes) rest = p;
  rest.t = middle;
  rest.event = "repeats";
  rest.micro_batch = rest.layer = -1;
  for (auto p = later; p != points.end(); ++p) {
    p->t += more * period;
    if (p->micro_batch >= 0) p->micro_batch += numbers;
  }
  points.insert(later, rest);
}

/// Two directions share the micro-batches of DualPipe.
double directions(const Plan& plan) { return plan.schedule == Schedule::dualpipe && plan.pp > 1 ? 2 : 1; }

/// Points in units of work, and how long the step is.
struct Trace {
  std::vector<TimelinePoint> points;
  double span = 0;
};

Trace trace(Sheet& sheet, const Plan& plan, const std::vector<Stage>& stages, std::optional<int> only) {
  const double drawn = drawn_micro_batches(plan), more = plan.micro_batches() - drawn;
  std::vector<std::vector<TimedPass>> ranks = simulate(plan, stages, static_cast<int>(drawn));
  double span = 0, layers = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    span = std::max(span, ranks[i].back().end);
    layers += stages[i].layers / stages[i].chunks * static_cast<double>(ranks[i].size());
  }
  const double period = period_of(ranks, drawn), tail = layer_work(plan, 0);
  Trace trace{{}, span + 2 * tail + (more > 0 ? more * period : 0)};
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (only && stages[i].index != *only) continue;
    StageTrace stage(sheet, plan, stages[i], std::move(ranks[i]), layers < static_cast<double>(kMostPoints));
    std::vector<TimelinePoint> own = stage.run(tail);
    if (more > 0) repeat(span / 2, period, more, static_cast<int>(more / directions(plan)), own);
    trace.points.insert(trace.points.end(), own.begin(), own.end());
  }
  return trace;
}

}  // namespace

std::vector<TimelinePoint> training_timeline(const Plan& plan, double step_seconds, std::optional<int> only) {
  if (!training_faults(plan).empty()) return {};
  const std::vector<Stage> stages = pipeline_stages(plan);
  Sheet sheet;
  Trace step{{}, 1};
  if (has_passes(plan))
    step = trace(sheet, plan, stages, only);
  else
    for (const Stage& stage : stages)
      if (!only || stage.index == *only) add_phases(sheet, plan, stage, step.points);
  for (TimelinePoint& point : step.points) point.t *= step_seconds / step.span;
  return std::move(step.points);
}

}  // namespace vram
