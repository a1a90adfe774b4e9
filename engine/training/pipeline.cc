#include "engine/training/pipeline.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/training/training.h"
#include "engine/units.h"

namespace vram {
namespace {

constexpr size_t kMostStagesWithoutShape = 64;

double total_layers(const Plan& plan) {
  return plan.subject->has_shape ? static_cast<double>(plan.subject->layers.size()) : plan.layers;
}

/// "20,20,20,20" as numbers; empty where it is not one number a stage that add up to the layers.
std::vector<double> given_stages(const Plan& plan) {
  std::vector<double> layers;
  double sum = 0;
  std::string_view rest = plan.stages;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::optional<double> number = read_number(rest.substr(0, comma));
    if (!number || *number < 0 || *number != std::floor(*number)) return {};
    layers.push_back(*number);
    sum += *number;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  const bool complete = static_cast<double>(layers.size()) == plan.pp && sum == total_layers(plan);
  return complete ? layers : std::vector<double>{};
}

/// Chunks of activations that rank `k` of `p` keeps at its fullest, of `m` micro-batches.
double chunks_in_flight(const Plan& plan, double k) {
  const double p = plan.pp, v = plan.vpp, m = std::max(1.0, plan.micro_batches());
  if (p <= 1) return 1;
  switch (plan.schedule) {
    case Schedule::gpipe:  // arXiv 1811.06965: every micro-batch runs forward before the first backward
      return m;
    case Schedule::interleaved:  // Megatron-LM, core/pipeline_parallel/schedules.py: warm-up micro-batches + 1
      return std::min(m * v, 2 * (p - k - 1) + (v - 1) * p + 1);
    case Schedule::zerobubble:  // ZB-H1, arXiv 2401.10241, section 3: no rank keeps more than 1F1B's first
      return std::min(m, p);
    case Schedule::dualpipe:  // arXiv 2412.19437, table 2: p + 1, in chunks of half the rank's layers
      return std::min(2 * m, p + 1);
    case Schedule::one_f_one_b:  // arXiv 2104.04473, section 2.2.1
      break;
  }
  return std::min(m, p - k);
}

/// Chunk c of rank k is the model's chunk c * p + k (arXiv 2104.04473, section 2.2.2).
std::vector<LayerRange> interleaved_ranges(size_t layers, size_t p, size_t v, size_t k) {
  std::vector<LayerRange> ranges;
  const size_t chunk = layers / (p * v);
  for (size_t c = 0; c < v; ++c) ranges.push_back({(c * p + k) * chunk, chunk});
  return ranges;
}

void set_ranges(const Plan& plan, const std::vector<LayerRange>& even, Stage& stage) {
  const size_t k = static_cast<size_t>(stage.index), p = even.size();
  const auto v = static_cast<size_t>(std::max(1.0, plan.vpp));
  const auto layers = static_cast<size_t>(total_layers(plan));
  stage.ranges = {even[k]};
  if (plan.schedule == Schedule::interleaved && v > 1) {
    stage.chunks = static_cast<double>(v);
    if (plan.stages.empty() && layers % (p * v) == 0) stage.ranges = interleaved_ranges(layers, p, v, k);
  }
  if (plan.schedule == Schedule::dualpipe && p > 1) {  // each rank holds a stage of either direction
    stage.chunks = 2;
    stage.ranges.push_back(even[p - 1 - k]);
    stage.first = stage.last = k == 0 || k == p - 1;
  }
  for (const LayerRange& range : stage.ranges) stage.layers += static_cast<double>(range.count);
}

}  // namespace

std::vector<double> stage_layers(const Plan& plan) {
  std::vector<double> layers = given_stages(plan);
  if (!layers.empty()) return layers;
  const double p = std::max(1.0, plan.pp), each = std::floor(total_layers(plan) / p);
  const double surplus = total_layers(plan) - each * p;
  for (double k = 0; k < p; ++k) layers.push_back(k >= p - surplus ? each + 1 : each);
  return layers;
}

std::vector<Stage> pipeline_stages(const Plan& plan) {
  std::vector<LayerRange> even;
  size_t next = 0;
  for (double layers : stage_layers(plan)) {
    even.push_back({next, static_cast<size_t>(layers)});
    next += static_cast<size_t>(layers);
  }
  // Without a shape all stages are alike: a few of them say it all.
  if (!plan.subject->has_shape) even.resize(std::min(even.size(), kMostStagesWithoutShape));
  std::vector<Stage> stages(even.size());
  for (size_t k = 0; k < stages.size(); ++k) {
    Stage& stage = stages[k];
    stage.index = static_cast<int>(k);
    stage.first = k == 0;
    stage.last = k + 1 == stages.size();
    set_ranges(plan, even, stage);
    stage.chunks_in_flight = chunks_in_flight(plan, static_cast<double>(k));
  }
  return stages;
}

double layers_of_kind(const Model& model, const Stage& stage, size_t kind) {
  double layers = 0;
  for (const LayerRange& range : stage.ranges) layers += model.layers_of_kind(kind, range.first, range.count);
  return layers;
}

double prediction_modules(const Plan& plan, const Stage& stage) {
  return stage.last && plan.library == Library::megatron ? static_cast<double>(plan.subject->mtp.size()) : 0;
}

}  // namespace vram
