#include "engine/serving/weight_collector.h"

#include <algorithm>
#include <array>

#include "engine/model/layer_shape.h"
#include "engine/serving/gguf.h"
#include "engine/units.h"

namespace vram {
namespace {

/// llama.cpp's ffn_{gate,up,down}_exps, weights and biases: neither the router nor shared experts.
bool is_of_routed_experts(const Matrix& matrix) { return matrix.shard == Shard::expert; }

}  // namespace

WeightCollector::WeightCollector(const Plan& plan, const Replica& replica, const ServingStage& stage)
    : model_(*plan.subject),
      checkpoint_(plan),
      replica_(replica),
      stage_(stage),
      whole_table_(builds_engines(plan)),
      pads_vocabulary_(plan.engine == Engine::vllm || plan.engine == Engine::sglang),
      pads_experts_((plan.engine == Engine::vllm || plan.engine == Engine::trtllm) &&
                    checkpoint_.format().id == "mxfp4"),
      expert_steps_(expert_steps(plan)) {}

void WeightCollector::add(const std::vector<Matrix>& matrices, double copies, double kv_heads,
                          const WeightSection* as) {
  for (const Matrix& matrix : matrices) add(matrix, copies, kv_heads, as);
}

void WeightCollector::add(const Matrix& matrix, double copies, double kv_heads, const WeightSection* as) {
  if (matrix.count() <= 0 || copies <= 0) return;
  const double bits =
      checkpoint_.gguf() ? gguf_storage(checkpoint_.format(), model_, matrix, 0, 0, 0).bits : checkpoint_.bits(matrix);
  put({as != nullptr ? *as : section_of(matrix), elements(matrix) * copies, bits, divisor(matrix, kv_heads)});
}

void WeightCollector::add(const LayerKind& kind, double copies, const WeightSection* as) {
  add(kind.matrices, copies, kind.attention.kv_heads, as);
}

void WeightCollector::add_layers(size_t k) {
  for (const Matrix& matrix : model_.kinds[k].matrices) {
    const size_t left = is_of_routed_experts(matrix) ? stage_.without_experts : 0;
    add_range(k, matrix, stage_.first + left, stage_.count - left, nullptr);
  }
}

void WeightCollector::add_more_experts(size_t k) {
  constexpr WeightSection kAs = WeightSection::host_experts;
  for (const Matrix& matrix : model_.kinds[k].matrices) {
    if (is_of_routed_experts(matrix)) add_range(k, matrix, stage_.first + stage_.count, stage_.more_experts, &kAs);
  }
}

void WeightCollector::add_range(size_t k, const Matrix& whole, size_t first, size_t count, const WeightSection* as) {
  if (whole.count() <= 0 || count == 0) return;
  const double kv_heads = model_.kinds[k].attention.kv_heads, layers = model_.layers_of_kind(k, first, count);
  if (checkpoint_.mixed()) return add_mixed(k, whole, first, count, as);
  if (!checkpoint_.gguf()) return add(whole, layers, kv_heads, as);
  for (const Matrix& matrix : gguf_tensors(model_, whole)) {
    const GgufStorage stored = gguf_storage(checkpoint_.format(), model_, matrix, k, first, count);
    const WeightSection section = as != nullptr ? *as : section_of(matrix);
    const double each = elements(matrix), over = divisor(matrix, kv_heads);
    put({section, each * (layers - stored.raised_layers), stored.bits, over});
    put({section, each * stored.raised_layers, stored.raised, over});
  }
}

void WeightCollector::add_mixed(size_t k, const Matrix& matrix, size_t first, size_t count, const WeightSection* as) {
  std::array<double, static_cast<size_t>(Stored::count_)> layers{};
  for (size_t i = first; i < first + count; ++i) {
    if (model_.layers[i] == k) layers[static_cast<size_t>(checkpoint_.stored(matrix, i))] += 1;
  }
  const WeightSection section = as != nullptr ? *as : section_of(matrix);
  const double each = elements(matrix), over = divisor(matrix, model_.kinds[k].attention.kv_heads);
  for (size_t way = 0; way < layers.size(); ++way)
    put({section, each * layers[way], checkpoint_.bits(matrix, static_cast<Stored>(way)), over});
}

void WeightCollector::put(const WeightParcel& parcel) {
  if (parcel.elements <= 0) return;
  for (WeightParcel& known : parcels_) {
    if (known.section == parcel.section && known.bits == parcel.bits && known.divisor == parcel.divisor) {
      known.elements += parcel.elements;
      return;
    }
  }
  parcels_.push_back(parcel);
}

double WeightCollector::bytes_on_gpu(const Matrix& matrix, double kv_heads) const {
  const Format& format = checkpoint_.format();
  const double bits = checkpoint_.bits(matrix);
  const double own = bits < 16 && format.blocks_only ? 8 * format.nominal_bytes : bits;
  return elements(matrix) * own / 8 / divisor(matrix, kv_heads);
}

double WeightCollector::elements(const Matrix& matrix) const {
  double rows = matrix.rows;
  if (matrix.shard == Shard::vocab && pads_vocabulary_ && matrix.part != Part::bias) {
    rows = round_up(rows, 64);  // vllm vocab_parallel_embedding.py: DEFAULT_VOCAB_PADDING_SIZE
  }
  if (pads_experts_ && matrix.shard == Shard::expert && matrix.linear) return padded_expert(matrix) * model_.scale();
  double count = rows * matrix.cols * matrix.copies * model_.scale();
  if (matrix.shard == Shard::expert && replica_.ep > 1) {  // whole experts: the fullest rank's share
    const double experts = std::max(1.0, model_.architecture.experts);
    count *= ceil_div(experts, replica_.ep) * replica_.ep / experts;
  }
  return count;
}

/// 64.4 (Triton) or 66.0 (Marlin) instead of 60.8 GiB of gpt-oss-120b.
double WeightCollector::padded_expert(const Matrix& matrix) const {
  const double ranks = std::max(1.0, replica_.tp * replica_.dp / replica_.ep);  // that cut a width
  const bool down = matrix.part == Part::expert_down;
  const double hidden = round_up(down ? matrix.rows : matrix.cols, expert_steps_.hidden);
  const double width = round_up((down ? matrix.cols : matrix.rows) / ranks, expert_steps_.width);
  const double in = round_up(down ? width : hidden, expert_steps_.summed), out = down ? hidden : width;
  return out * in * ranks * matrix.copies;
}

double WeightCollector::divisor(const Matrix& matrix, double kv_heads) const {
  if (whole_table_ && matrix.part == Part::embedding) return 1;
  switch (matrix.shard) {
    case Shard::replicated:
      return 1;
    case Shard::kv_heads:
      return std::min(replica_.tp, std::max(1.0, kv_heads));
    case Shard::expert:
      return replica_.tp * replica_.dp;  // experts spread over attention's data-parallel ranks, too
    default:
      return replica_.tp;
  }
}

}  // namespace vram
