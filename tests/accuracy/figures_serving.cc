#include "tests/accuracy/figures_serving.h"

#include <cmath>
#include <cstdlib>
#include <optional>

#include "engine/serving/cache_blocks.h"
#include "engine/serving/capacity.h"
#include "engine/serving/kv_cache.h"
#include "engine/serving/llamacpp_cells.h"
#include "engine/serving/replica.h"
#include "engine/serving/sglang.h"
#include "engine/serving/weights.h"
#include "engine/units.h"
#include "tests/accuracy/benchmark.h"
#include "tests/accuracy/figures_llamacpp.h"

namespace vram::accuracy {
namespace {

Amount speed(const ServingBill& s, double value) { return {value, value * s.speed_band.value_or(0)}; }

double cache_layers(const Plan& plan) {
  double layers = 0;
  for (const CacheGroup& group : cache_groups(plan, replica_of(plan), whole_model(plan)))
    if (group.state_bytes == 0) layers += group.layers;
  return layers;
}

/// Bytes on a GPU of a request of max_len, of all layers whatever the stages.
double request_cache(const Plan& plan) {
  return request_bytes(plan, cache_groups(plan, replica_of(plan), whole_model(plan)), plan.max_len).all();
}

double window_cells(const Plan& plan, const ServingBill& s) {
  if (plan.engine == Engine::sglang) return std::floor(s.kv_tokens.value_or(0) * kWindowPoolRatio);
  const Line* cache = line_of(s.lines, "kv_cache");
  const double each = double(s.kv_bytes_per_token.value_or(0)) - double(s.kv_bytes_per_token_beyond_window.value_or(0));
  return cache != nullptr && each > 0 ? bytes_within(*cache, "sliding") / each : 0;
}

/// Of as many slots as there are requests, whether or not the GPU has room for them.
double slots_of_states(const Plan& plan) {
  double each = 0;
  for (const CacheGroup& group : cache_groups(plan, replica_of(plan), whole_model(plan)))
    each += group.layers * group.state_bytes;
  return plan.concurrency * each;
}

/// States of linear and state-space layers, or what of them is the recurrence's or the convolution's.
double recurrent_states(const Report& r, const std::string& part) {
  const Line* cache = line_of(r.serving.lines, "kv_cache");
  double bytes = cache != nullptr ? bytes_within(*cache, "state") : 0;
  if (r.plan.engine != Engine::llamacpp) bytes = slots_of_states(r.plan);
  const double width = r.plan.engine == Engine::llamacpp ? 4 : 2;  // of a convolution's
  for (const LayerKind& kind : r.plan.subject->kinds) {
    if (kind.state_elements == 0 || part.empty()) continue;
    const double scan = 4 * kind.state_elements, all = scan + width * kind.conv_state_elements;
    return bytes * (part == "scan" ? scan : all - scan) / all;
  }
  return bytes;
}

/// States that fit beside one that nobody owns (sglang memory_pool.py, MambaPool).
double state_slots(const Report& r) {
  Sheet sheet;
  const StageCapacity stage = tightest_stage(sheet, r.plan, replica_of(r.plan));
  const double each = stage.demand.each.states;
  return each > 0 ? std::floor(state_pool_bytes(r.plan, stage) / each) : 0;
}

/// sglang's pool without what it sets apart for states.
double tokens_part(const Report& r) {
  Sheet sheet;
  const StageCapacity stage = tightest_stage(sheet, r.plan, replica_of(r.plan));
  return stage.budget_bytes - state_pool_bytes(r.plan, stage);
}

/// What sglang sets apart for states beside so many GiB of tokens.
double state_pool_beside(const Report& r, double gib) {
  Sheet sheet;
  const StageCapacity stage = tightest_stage(sheet, r.plan, replica_of(r.plan));
  const double apart = state_pool_bytes(r.plan, stage), left = stage.budget_bytes - apart;
  return left > 0 ? gib * kGiB * apart / left : 0;
}

/// Weights of a GPU of one stage of a pipeline.
Amount stage_weights(const Plan& plan, size_t index) {
  const Replica replica = replica_of(plan);
  const std::vector<ServingStage> stages = serving_stages(plan, replica);
  if (index >= stages.size()) return {};
  std::vector<WeightParcel> parcels = weight_parcels(plan, replica, stages[index]);
  const WeightParcel rounding = allocator_rounding(plan, replica, stages[index]);
  if (rounding.elements > 0) parcels.push_back(rounding);
  Sheet sheet;
  const Line line = weights_line(sheet, parcels);
  return {static_cast<double>(line.bytes), static_cast<double>(line.band_bytes)};
}

/// Of the text model, or of a file that has its prediction modules, too.
double counted_parameters(const Model& model, const std::string& part) {
  double modules = 0;
  for (const LayerKind& kind : model.mtp) modules += kind.parameters();
  return model.nominal_parameters + (part == "modules" ? modules : 0);
}

double state_block(const Report& r) {
  return block_tokens(r.plan, cache_groups(r.plan, replica_of(r.plan), whole_model(r.plan)));
}

/// A token's bytes in layers that slide, or in those that keep every token.
double token_bytes_of(const ServingBill& s, const std::string& part) {
  const double all = double(s.kv_bytes_per_token.value_or(0)), gpu = double(s.kv_bytes_per_token_per_gpu.value_or(0));
  if (part == "all GPUs") return all;
  if (part.empty() || all <= 0) return gpu;
  const double full = double(s.kv_bytes_per_token_beyond_window.value_or(0)) / all;
  return gpu * (part == "full" ? full : 1 - full);
}

/// What of the bill's GPU a sum adds up: "weights+kv+compute"; "layers" are the weights without embedding and head.
double sum_of_terms(const Report& r, const std::string& terms) {
  const auto holds = [&terms](const char* term) { return terms.find(term) != std::string::npos; };
  double bytes = 0;
  if (holds("layers")) bytes += layer_weight_bytes(r.plan, "layers");
  if (holds("weights")) bytes += sum_of(r.serving.lines, {"weights"}).value;
  if (holds("kv")) bytes += cache_bytes(r.plan, "gpu");
  if (holds("states")) bytes += state_bytes(r.plan, "gpu");
  if (holds("compute")) bytes += sum_of(r.serving.lines, {"activations"}).value;
  if (holds("less head")) bytes -= child_of(r.serving.lines, "weights", "head").value;
  return bytes;
}

/// Weights in host memory, or what the part says of them.
Amount host_weights(const ServingBill& s, const std::string& part) {
  const Amount all = sum_of(s.host_lines, {"weights"}), table = child_of(s.host_lines, "weights", "embedding");
  if (part == "embedding") return table;
  if (part == "without embedding") return {all.value - table.value, all.band};
  return all;
}

/// llama.cpp prints recurrent states as a buffer of their own ("RS buffer size").
double states_apart(const Plan& plan, const ServingBill& s) {
  const Line* cache = line_of(s.lines, "kv_cache");
  return plan.engine == Engine::llamacpp && cache != nullptr ? bytes_within(*cache, "state") : 0;
}

/// Of llama.cpp the file: what is in host memory, too.
Amount weights_amount(const Report& r, const Measurement& m) {
  const ServingBill& s = r.serving;
  Amount gpu = sum_of(s.lines, {"weights"});
  if (m.part == "process")
    gpu.value += sum_of(s.lines, {"context"}).value + child_of(s.lines, "buffers", "communication").value;
  if (m.part == "non-torch") gpu.value += child_of(s.lines, "buffers", "non_torch").value;
  if (m.part == "gpu") return gpu;
  if (m.part.rfind("stage ", 0) == 0) return stage_weights(r.plan, std::strtoul(m.part.c_str() + 6, nullptr, 10));
  if (m.part.rfind("device ", 0) == 0) return {layer_weight_bytes(r.plan, m.part), gpu.band};
  const Amount host = sum_of(s.host_lines, {"weights"});
  return {gpu.value + host.value, gpu.band + host.band};
}

/// What a trap would come out at: its figure, or the weights.
Amount trap_amount(const Report& r, const Measurement& m) {
  const ServingBill& s = r.serving;
  if (m.part == "concurrency") return {s.max_concurrency_at_max_len.value_or(0), 0};
  if (m.part == "token") return {token_bytes_of(s, ""), 0};
  if (m.part == "cache") return sum_of(s.lines, {"kv_cache"});
  Figure timed = Figure::other;
  return figure_of(m.part, &timed) ? speed(s, benchmark_figure(m, timed, r.plan, s)) : weights_amount(r, m);
}

/// What the engine allocates: its whole budget where it preallocates. Of a share of memory, its doubt is then that of
/// everything else.
Amount pool_amount(const Report& r, const Measurement& m) {
  const ServingBill& s = r.serving;
  if (r.plan.engine == Engine::llamacpp && !m.part.empty()) return {cache_bytes(r.plan, m.part), 0};
  if (m.part == "tokens") return {tokens_part(r), double(s.band_bytes)};
  if (const Line* cache = line_of(s.lines, "kv_cache"); cache != nullptr && !m.part.empty())
    return {bytes_within(*cache, m.part), 0};
  const Amount pool = sum_of(s.lines, {"kv_cache"});
  return {pool.value - states_apart(r.plan, s), m.relative_to > 0 ? double(s.band_bytes) : pool.band};
}

/// sglang's request table, with what its pool's tensors are rounded up by.
Amount table_amount(const ServingBill& s) {
  const Amount table = child_of(s.lines, "buffers", "request_table");
  return {table.value + child_of(s.lines, "buffers", "pool_rounding").value, table.band};
}

Amount states_amount(const Report& r, const Measurement& m) {
  if (r.plan.engine == Engine::llamacpp && !m.part.empty()) return {state_bytes(r.plan, m.part), 0};
  if (m.part.rfind("pool beside ", 0) == 0) return {state_pool_beside(r, std::strtod(m.part.c_str() + 12, nullptr)), 0};
  return {recurrent_states(r, m.part), 0};
}

/// What is a count or the plan's own, and no bytes of the bill.
std::optional<Amount> counted_amount(const Report& r, const Measurement& m) {
  const ServingBill& s = r.serving;
  switch (m.figure) {
    case Figure::request_blocks:
      return Amount{r.plan.block > 0 ? std::ceil(r.plan.max_len / r.plan.block) : 0, 0};
    case Figure::longest_request:
      return Amount{s.longest_context.value_or(0), 0};
    case Figure::pool_share:
      return Amount{r.plan.utilization, 0};
    case Figure::cache_layers:
      return Amount{cache_layers(r.plan), 0};
    case Figure::cells:
      return Amount{llamacpp_cells(r.plan), 0};
    case Figure::window_cells:
      return Amount{window_cells(r.plan, s), 0};
    case Figure::parameters:
      return Amount{counted_parameters(*r.plan.subject, m.part), 0};
    case Figure::file_layers:
      return Amount{static_cast<double>(r.plan.subject->layers.size() + r.plan.subject->mtp.size()), 0};
    case Figure::state_slots:
      return Amount{state_slots(r), 0};
    case Figure::state_block:
      return Amount{state_block(r), 0};
    case Figure::kv_tokens:
      return Amount{double(s.kv_tokens.value_or(0)), 0};
    case Figure::concurrency:
      return Amount{s.max_concurrency_at_max_len.value_or(0), 0};
    case Figure::swap_tokens:
      return Amount{s.swapped_requests.value_or(0) * (r.plan.prompt + r.plan.output), 0};
    default:
      return std::nullopt;
  }
}

/// What holds weights, cache or states.
std::optional<Amount> stored_amount(const Report& r, const Measurement& m) {
  const ServingBill& s = r.serving;
  switch (m.figure) {
    case Figure::weights:
      return weights_amount(r, m);
    case Figure::head:
      return child_of(s.lines, "weights", "head");
    case Figure::draft:
      return child_of(s.lines, "weights", "draft");
    case Figure::host_weights:
      return host_weights(s, m.part);
    case Figure::kv_pool:
      return pool_amount(r, m);
    case Figure::pool_and_table:
      return Amount{sum_of(s.lines, {"kv_cache"}).value + table_amount(s).value, table_amount(s).band};
    case Figure::request_table:
      return table_amount(s);
    case Figure::request_cache:
      return Amount{request_cache(r.plan), 0};
    case Figure::kv_token:
      return Amount{token_bytes_of(s, m.part), 0};
    case Figure::recurrent:
      return states_amount(r, m);
    default:
      return std::nullopt;
  }
}

/// What is asked of the GPU or the host as a whole, and what work takes beside what is stored.
std::optional<Amount> memory_amount(const Report& r, const Measurement& m) {
  const ServingBill& s = r.serving;
  switch (m.figure) {
    case Figure::trap:
      return trap_amount(r, m);
    case Figure::sum:
      return Amount{sum_of_terms(r, m.part), double(s.band_bytes)};
    case Figure::budget:
      return Amount{r.plan.utilization * r.plan.gpu_mem, 0};
    case Figure::process:
      return Amount{static_cast<double>(s.device_bytes), static_cast<double>(s.band_bytes)};
    case Figure::buffers:
      if (m.part.starts_with("estimate")) return Amount{graph_estimate(r.plan, m.part == "estimate with logits"), 0};
      return sum_of(s.lines, {"activations"});
    case Figure::host_buffers:
      return sum_of(s.host_lines, {"activations"});
    case Figure::outputs:
      return sum_of(s.host_lines, {"outputs"});
    default:
      return std::nullopt;
  }
}

}  // namespace

Amount serving_amount(const Report& r, const Measurement& m) {
  if (const std::optional<Amount> counted = counted_amount(r, m)) return *counted;
  if (const std::optional<Amount> stored = stored_amount(r, m)) return *stored;
  if (const std::optional<Amount> memory = memory_amount(r, m)) return *memory;
  return speed(r.serving, benchmark_figure(m, m.figure, r.plan, r.serving));
}

}  // namespace vram::accuracy
