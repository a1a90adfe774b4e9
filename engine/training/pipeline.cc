#include "engine/training/pipeline.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/training/schedule.h"
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

bool interleaves(const Plan& plan) { return plan.schedule == Schedule::interleaved && plan.vpp > 1 && plan.pp > 1; }

/// Layers of each of `count` chunks of the model, as even as possible, the surplus to later ones. Where only that comes
/// out even, the embedding counts as a layer of the first chunk and the loss as one of the last (Megatron-LM,
/// account_for_embedding_in_pipeline_split and account_for_loss_in_pipeline_split).
std::vector<size_t> chunk_layers(size_t layers, size_t count, bool may_count_ends) {
  const bool ends = may_count_ends && layers % count != 0 && (layers + 2) % count == 0;
  const size_t all = ends ? layers + 2 : layers, surplus = all % count;
  std::vector<size_t> chunks(count, all / count);
  for (size_t i = count - surplus; i < count; ++i) ++chunks[i];
  if (ends) --chunks.front(), --chunks.back();
  return chunks;
}

/// Layers of each chunk in the model's order, chunk c of rank k at c * p + k. A rank that was given its layers has them
/// in chunks as even as possible.
std::vector<size_t> model_chunks(const Plan& plan) {
  const bool parts = interleaves(plan);
  const auto p = static_cast<size_t>(std::max(1.0, plan.pp)), v = parts ? static_cast<size_t>(plan.vpp) : 1;
  const std::vector<double> given = given_stages(plan);
  if (given.empty()) return chunk_layers(static_cast<size_t>(total_layers(plan)), p * v, parts);
  std::vector<size_t> chunks(p * v);
  for (size_t k = 0; k < p; ++k) {
    const std::vector<size_t> own = chunk_layers(static_cast<size_t>(given[k]), v, false);
    for (size_t c = 0; c < v; ++c) chunks[c * p + k] = own[c];
  }
  return chunks;
}

std::vector<LayerRange> consecutive(const std::vector<size_t>& chunks) {
  std::vector<LayerRange> ranges;
  size_t next = 0;
  for (size_t count : chunks) {
    ranges.push_back({next, count});
    next += count;
  }
  return ranges;
}

/// The ranges of every rank: its one stage; with interleaving chunk c of rank k is the model's chunk c * p + k (arXiv
/// 2104.04473, section 2.2.2; uneven ones: Megatron-LM, core/transformer/transformer_layer.py,
/// get_transformer_layer_offset); with DualPipe a stage of either direction.
std::vector<std::vector<LayerRange>> rank_ranges(const Plan& plan) {
  const auto p = static_cast<size_t>(std::max(1.0, plan.pp));
  const std::vector<LayerRange> chunks = consecutive(model_chunks(plan));
  std::vector<std::vector<LayerRange>> ranks(p);
  for (size_t i = 0; i < chunks.size(); ++i) ranks[i % p].push_back(chunks[i]);
  if (plan.schedule == Schedule::dualpipe)
    for (size_t k = 0; k < p / 2; ++k) {
      const LayerRange own = ranks[k].front();
      ranks[k].push_back(ranks[p - 1 - k].front());
      ranks[p - 1 - k].push_back(own);
    }
  return ranks;
}

void set_ranges(const Plan& plan, std::vector<LayerRange> ranges, Stage& stage) {
  stage.ranges = std::move(ranges);
  stage.chunks = static_cast<double>(stage.ranges.size());
  const int last = static_cast<int>(plan.pp) - 1;
  stage.first = stage.index == 0;
  stage.last = stage.index == last;
  if (plan.schedule == Schedule::dualpipe) stage.first = stage.last = stage.first || stage.last;
  for (const LayerRange& range : stage.ranges) stage.layers += static_cast<double>(range.count);
}

/// Most layers whose activations an interleaved rank keeps at once, passes of chunks of different lengths counted one
/// by one. What follows 2 p micro-batches repeats.
double layers_in_flight(const Plan& plan, const Stage& stage) {
  const double m = std::min(std::max(1.0, plan.micro_batches()), 2 * plan.pp);
  double layers = 0, most = 0;
  for (const Pass& pass : rank_passes(plan, stage.index, static_cast<int>(m))) {
    const auto count = static_cast<double>(stage.ranges[static_cast<size_t>(pass.chunk)].count);
    if (pass.kind == PassKind::forward) layers += count;
    if (pass.frees) layers -= count;
    most = std::max(most, layers);
  }
  return most;
}

/// Of a pipeline that has a layer for nearly every chunk.
bool has_uneven_chunks(const Plan& plan, const Stage& stage) {
  if (!interleaves(plan) || plan.pp * plan.vpp > total_layers(plan) + 2) return false;
  return std::any_of(stage.ranges.begin(), stage.ranges.end(),
                     [&stage](const LayerRange& range) { return range.count != stage.ranges.front().count; });
}

}  // namespace

std::vector<double> stage_layers(const Plan& plan) {
  const std::vector<size_t> chunks = model_chunks(plan);
  std::vector<double> layers(static_cast<size_t>(std::max(1.0, plan.pp)));
  for (size_t i = 0; i < chunks.size(); ++i) layers[i % layers.size()] += static_cast<double>(chunks[i]);
  return layers;
}

std::vector<Stage> pipeline_stages(const Plan& plan) {
  std::vector<std::vector<LayerRange>> ranges = rank_ranges(plan);
  // Without a shape all stages are alike: a few of them say it all.
  if (!plan.subject->has_shape) ranges.resize(std::min(ranges.size(), kMostStagesWithoutShape));
  std::vector<Stage> stages(ranges.size());
  for (size_t k = 0; k < stages.size(); ++k) {
    Stage& stage = stages[k];
    stage.index = static_cast<int>(k);
    set_ranges(plan, std::move(ranges[k]), stage);
    stage.chunks_in_flight = chunks_in_flight(plan, static_cast<double>(k));
    if (has_uneven_chunks(plan, stage))
      stage.chunks_in_flight = layers_in_flight(plan, stage) * stage.chunks / stage.layers;
  }
  return stages;
}

double layers_of_kind(const Model& model, const Stage& stage, size_t kind) {
  double layers = 0;
  for (const LayerRange& range : stage.ranges) layers += model.layers_of_kind(kind, range.first, range.count);
  return layers;
}

bool hold_the_same(const Plan& plan, const Stage& a, const Stage& b) {
  if (a.first != b.first || a.last != b.last || a.layers != b.layers || a.chunks != b.chunks) return false;
  const Model& model = *plan.subject;
  for (size_t kind = 0; kind < model.kinds.size() && model.kinds.size() > 1; ++kind)
    if (layers_of_kind(model, a, kind) != layers_of_kind(model, b, kind)) return false;
  return true;
}

bool outdone(const Plan& plan, std::span<const Stage> earlier, const Stage& stage) {
  return std::any_of(earlier.begin(), earlier.end(), [&](const Stage& other) {
    return other.chunks_in_flight >= stage.chunks_in_flight && hold_the_same(plan, other, stage);
  });
}

double prediction_modules(const Plan& plan, const Stage& stage) {
  return stage.last && plan.library == Library::megatron ? static_cast<double>(plan.subject->mtp.size()) : 0;
}

}  // namespace vram
