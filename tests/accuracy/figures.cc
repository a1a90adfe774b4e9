#include "tests/accuracy/figures.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "engine/serving/cache_blocks.h"
#include "engine/serving/capacity.h"
#include "engine/serving/kv_cache.h"
#include "engine/serving/llamacpp_cells.h"
#include "engine/serving/replica.h"
#include "engine/serving/sglang.h"
#include "engine/serving/weights.h"
#include "engine/training/storage.h"
#include "engine/units.h"
#include "tests/accuracy/benchmark.h"
#include "tests/accuracy/figures_llamacpp.h"

namespace vram::accuracy {
namespace {

struct Name {
  Figure figure;
  const char* name;
};
constexpr Name kNames[] = {{Figure::states, "states"},
                           {Figure::estimator, "states and buffers"},
                           {Figure::host, "host"},
                           {Figure::activations, "activations"},
                           {Figure::layer, "activations of a layer"},
                           {Figure::steady, "static"},
                           {Figure::allocated, "allocated"},
                           {Figure::reserved, "reserved"},
                           {Figure::device, "device"},
                           {Figure::ran, "ran"},
                           {Figure::out_of_memory, "out of memory"},
                           {Figure::published_flops, "published FLOP/s"},
                           {Figure::speed, "tokens/s"},
                           {Figure::gpu_hours, "GPU-hours"},
                           {Figure::total_flops, "FLOPs"},
                           {Figure::saved, "saved bytes a token"},
                           {Figure::loss_peak, "loss bytes a token"},
                           {Figure::weights, "weights"},
                           {Figure::kv_token, "KV bytes a token"},
                           {Figure::kv_pool, "KV pool"},
                           {Figure::kv_tokens, "KV tokens"},
                           {Figure::concurrency, "concurrency"},
                           {Figure::buffers, "compute buffers"},
                           {Figure::serving_speed, "tokens/s served"},
                           {Figure::prefill_speed, "prompt tokens/s"},
                           {Figure::first_token, "time to first token"},
                           {Figure::first_token_together, "time to first token, clients start together"},
                           {Figure::token_time, "time a token"},
                           {Figure::input_speed, "prompt tokens/s served"},
                           {Figure::total_speed, "all tokens/s served"},
                           {Figure::request_rate, "requests/s"},
                           {Figure::request_latency, "time of a request"},
                           {Figure::run_time, "time of a run"},
                           {Figure::cells, "cells"},
                           {Figure::swap_tokens, "tokens in swap"},
                           {Figure::trap, "trap avoided"},
                           {Figure::head, "output head"},
                           {Figure::host_weights, "weights on the host"},
                           {Figure::host_buffers, "host compute buffer"},
                           {Figure::pool_and_table, "KV pool and table"},
                           {Figure::parameters, "parameters"},
                           {Figure::file_layers, "layers of a file"},
                           {Figure::budget, "budget"},
                           {Figure::process, "process"},
                           {Figure::cache_layers, "layers with a cache"},
                           {Figure::window_cells, "window cells"},
                           {Figure::recurrent, "recurrent states"},
                           {Figure::state_slots, "state slots"},
                           {Figure::state_block, "tokens of a state's block"},
                           {Figure::request_table, "request table"},
                           {Figure::draft, "draft"},
                           {Figure::sum, "sum"},
                           {Figure::request_blocks, "blocks of a request"},
                           {Figure::request_cache, "cache of a request"},
                           {Figure::longest_request, "longest request"},
                           {Figure::pool_share, "share of the free memory"},
                           {Figure::any, "every figure"},
                           {Figure::other, "other"}};

/// An amount and its half-width.
struct Amount {
  double value = 0, band = 0;
};

const Line* line_of(Lines lines, std::string_view id) {
  for (const Line& line : lines)
    if (id == line.id) return &line;
  return nullptr;
}

/// Sum of named lines of a bill; bands by the root of the sum of their squares, as the bill's own.
Amount sum_of(Lines lines, std::initializer_list<std::string_view> ids) {
  std::vector<Line> taken;
  for (std::string_view id : ids)
    if (const Line* line = line_of(lines, id)) taken.push_back(*line);
  return {static_cast<double>(total_bytes(taken)), static_cast<double>(total_band_bytes(taken))};
}

const StageBill& stage_of(const TrainingBill& bill, Reading reading) {
  const StageBill& first = bill.stages.front();
  const StageBill& last = bill.stages.back();
  if (reading == Reading::first) return first;
  if (reading == Reading::last) return last;
  if (reading == Reading::first_or_last) return first.device_bytes >= last.device_bytes ? first : last;
  return *std::max_element(bill.stages.begin(), bill.stages.end(),
                           [](const StageBill& a, const StageBill& b) { return a.device_bytes < b.device_bytes; });
}

/// The activations line where every saved tensor lives: the forward pass' end.
Amount activations(const TrainingBill& bill, const StageBill& stage) {
  if (stage.stage == bill.stage)
    for (const Phase& phase : bill.phases)
      if (std::string_view(phase.id) == "forward") return sum_of(phase.lines, {"activations"});
  return sum_of(stage.lines, {"activations"});
}

/// What DeepSpeed's estimators count (runtime/zero/stage_1_and_2.py, estimate_zero2_model_states_mem_needs; stage3.py,
/// estimate_zero3_model_states_mem_needs): weights, optimizer and, as large as its fp32 weights, fp32 gradients; 16-bit
/// gradients are whole under ZeRO 2, and ZeRO 3 has weights and gradients of the largest layer, which no plan names.
Amount estimated_states(const Plan& plan, const StageBill& stage, double largest_layer) {
  Sheet sheet;
  const Lines lines = stage_lines(sheet, plan, static_cast<size_t>(stage.stage));
  Amount out = sum_of(lines, {"weights", "optimizer"});
  out.value += sum_of(line_of(lines, "optimizer")->children, {"master"}).value;
  if (plan.zero < 3) out.value += sum_of(lines, {"gradients"}).value * (plan.zero == 2 ? plan.dense_shards() : 1);
  if (plan.zero >= 3) out.value += 2 * compute_bytes(plan) * largest_layer;
  return out;
}

Amount training_amount(const Report& r, const Measurement& m) {
  const TrainingBill& bill = r.training;
  const StageBill& stage = stage_of(bill, m.reading);
  switch (m.figure) {
    case Figure::states:
      return sum_of(stage.lines, {"weights", "gradients", "optimizer"});
    case Figure::estimator:
      return estimated_states(r.plan, stage, m.largest_layer);
    case Figure::host:
      return {static_cast<double>(bill.host_bytes_per_node.value_or(0)), 0};
    case Figure::activations:
    case Figure::layer:
      return activations(bill, stage);
    case Figure::steady:
      return {static_cast<double>(stage.steady_bytes), static_cast<double>(stage.steady_band_bytes)};
    case Figure::allocated:
      return sum_of(stage.lines,
                    {"weights", "gradients", "optimizer", "adapters", "activations", "logits", "gathered", "buffers"});
    case Figure::reserved:
      return sum_of(stage.lines, {"weights", "gradients", "optimizer", "adapters", "activations", "logits", "gathered",
                                  "buffers", "fragmentation"});
    default:
      return {static_cast<double>(stage.device_bytes), static_cast<double>(stage.band_bytes)};
  }
}

/// A token's share of the activations line of a one-layer plan, or of the named part of it.
Amount saved_amount(const Report& r, const Measurement& m) {
  const double tokens = r.plan.tokens_per_micro_batch();
  for (const Phase& phase : r.training.phases) {
    const bool loss = m.figure == Figure::loss_peak;
    if (std::string_view(phase.id) != (loss ? "loss" : "forward")) continue;
    const Line* line = line_of(phase.lines, loss ? "logits" : "activations");
    if (line && !m.part.empty()) line = line_of(line->children, m.part);
    if (line) return {static_cast<double>(line->bytes) / tokens, static_cast<double>(line->band_bytes) / tokens};
  }
  return {};
}

Amount verdict_amount(const Report& r, const Measurement& m) {
  const Verdict verdict = r.training.verdict;
  if (m.figure == Figure::ran) return {verdict == Verdict::exceeds ? 0.0 : 1.0, 0};
  return {verdict == Verdict::exceeds || verdict == Verdict::tight ? 1.0 : 0.0, 0};
}

Amount compute_amount(const Report& r, const Measurement& m) {
  const ComputeFigures& c = r.compute;
  const double mfu = c.mfu.value_or(0), share = mfu > 0 ? c.mfu_band.value_or(0) / mfu : 0;
  if (m.figure == Figure::gpu_hours) return {c.gpu_hours.value_or(0), share * c.gpu_hours.value_or(0)};
  if (m.figure == Figure::total_flops) return {c.model_flops.value_or(0), 0};
  if (m.figure == Figure::published_flops) {
    const double recomputed = m.part == "hardware" && mfu > 0 ? c.hfu.value_or(mfu) / mfu : 1;
    return {m.tokens_per_second * c.flops_per_token.value_or(0) * recomputed, 0};
  }
  const double speed = c.tokens_per_second.value_or(0) / r.plan.gpus;
  return {speed, share * speed};
}

Amount speed(const ServingBill& s, double value) { return {value, value * s.speed_band.value_or(0)}; }

Amount child_of(Lines lines, std::string_view id, std::string_view child) {
  const Line* line = line_of(lines, id);
  return line != nullptr ? sum_of(line->children, {child}) : Amount{};
}

/// Bytes of every line of that name, however deep.
double bytes_within(const Line& line, std::string_view id) {
  if (id == line.id) return static_cast<double>(line.bytes);
  double bytes = 0;
  for (const Line& child : line.children) bytes += bytes_within(child, id);
  return bytes;
}

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
  if (r.plan.engine == Engine::sglang) bytes = slots_of_states(r.plan);
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

Amount serving_amount(const Report& r, const Measurement& m) {
  const ServingBill& s = r.serving;
  switch (m.figure) {
    case Figure::trap:
      if (m.part == "concurrency") return {s.max_concurrency_at_max_len.value_or(0), 0};
      if (m.part == "token") return {token_bytes_of(s, ""), 0};
      if (m.part == "cache") return sum_of(s.lines, {"kv_cache"});
      if (Figure timed = Figure::other; figure_of(m.part, &timed))
        return speed(s, benchmark_figure(m, timed, r.plan, s));
      [[fallthrough]];
    case Figure::weights: {  // of llama.cpp the file: what is in host memory, too
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
    case Figure::head:
      return child_of(s.lines, "weights", "head");
    case Figure::host_weights:
      return host_weights(s, m.part);
    case Figure::sum:
      return {sum_of_terms(r, m.part), double(s.band_bytes)};
    case Figure::request_blocks:
      return {r.plan.block > 0 ? std::ceil(r.plan.max_len / r.plan.block) : 0, 0};
    case Figure::request_cache:
      return {request_cache(r.plan), 0};
    case Figure::longest_request:
      return {s.longest_context.value_or(0), 0};
    case Figure::pool_share:
      return {r.plan.utilization, 0};
    case Figure::host_buffers:
      return sum_of(s.host_lines, {"activations"});
    case Figure::pool_and_table: {
      const Amount pool = sum_of(s.lines, {"kv_cache"}), table = child_of(s.lines, "buffers", "request_table");
      return {pool.value + table.value + child_of(s.lines, "buffers", "pool_rounding").value, table.band};
    }
    case Figure::budget:
      return {r.plan.utilization * r.plan.gpu_mem, 0};
    case Figure::process:
      return {static_cast<double>(s.device_bytes), static_cast<double>(s.band_bytes)};
    case Figure::cache_layers:
      return {cache_layers(r.plan), 0};
    case Figure::cells:
      return {llamacpp_cells(r.plan), 0};
    case Figure::window_cells:
      return {window_cells(r.plan, s), 0};
    case Figure::recurrent:
      if (r.plan.engine == Engine::llamacpp && !m.part.empty()) return {state_bytes(r.plan, m.part), 0};
      if (m.part.rfind("pool beside ", 0) == 0)
        return {state_pool_beside(r, std::strtod(m.part.c_str() + 12, nullptr)), 0};
      return {recurrent_states(r, m.part), 0};
    case Figure::parameters:
      return {counted_parameters(*r.plan.subject, m.part), 0};
    case Figure::file_layers:
      return {static_cast<double>(r.plan.subject->layers.size() + r.plan.subject->mtp.size()), 0};
    case Figure::state_slots:
      return {state_slots(r), 0};
    case Figure::state_block:
      return {state_block(r), 0};
    case Figure::draft:
      return child_of(s.lines, "weights", "draft");
    case Figure::request_table: {
      const Amount table = child_of(s.lines, "buffers", "request_table");
      return {table.value + child_of(s.lines, "buffers", "pool_rounding").value, table.band};
    }
    case Figure::kv_token:
      return {token_bytes_of(s, m.part), 0};
    case Figure::kv_pool:
      if (r.plan.engine == Engine::llamacpp && !m.part.empty()) return {cache_bytes(r.plan, m.part), 0};
      if (m.part == "tokens") return {tokens_part(r), double(s.band_bytes)};
      if (const Line* cache = line_of(s.lines, "kv_cache"); cache != nullptr && !m.part.empty())
        return {bytes_within(*cache, m.part), 0};
      // What the engine allocates: its whole budget where it preallocates. Of a share of memory, its doubt is then that
      // of everything else.
      return {sum_of(s.lines, {"kv_cache"}).value - states_apart(r.plan, s),
              m.relative_to > 0 ? double(s.band_bytes) : sum_of(s.lines, {"kv_cache"}).band};
    case Figure::kv_tokens:
      return {double(s.kv_tokens.value_or(0)), 0};
    case Figure::concurrency:
      return {s.max_concurrency_at_max_len.value_or(0), 0};
    case Figure::buffers:
      return sum_of(s.lines, {"activations"});
    case Figure::prefill_speed:
    case Figure::serving_speed:
    case Figure::input_speed:
    case Figure::total_speed:
    case Figure::request_rate:
    case Figure::request_latency:
    case Figure::run_time:
    case Figure::first_token:
    case Figure::first_token_together:
    case Figure::token_time:
      return speed(s, benchmark_figure(m, m.figure, r.plan, s));
    case Figure::swap_tokens:
      return {s.swapped_requests.value_or(0) * (r.plan.prompt + r.plan.output), 0};
    default:
      return {};
  }
}

bool is_timed(Figure f) {
  return f == Figure::prefill_speed || f == Figure::serving_speed || f == Figure::token_time ||
         f == Figure::first_token;
}

bool is_compute(Figure f) {
  return f == Figure::speed || f == Figure::gpu_hours || f == Figure::total_flops || f == Figure::published_flops;
}

}  // namespace

const char* figure_name(Figure figure) {
  for (const Name& row : kNames)
    if (row.figure == figure) return row.name;
  return "";
}

namespace {
constexpr const char* kReadings[] = {"fullest", "first", "last", "first or last"};
}

const char* reading_name(Reading reading) { return kReadings[static_cast<size_t>(reading)]; }

Reading reading_of_name(const std::string& name) {
  for (size_t i = 0; i < std::size(kReadings); ++i)
    if (name == kReadings[i]) return static_cast<Reading>(i);
  return Reading::fullest;
}

bool figure_of(const std::string& name, Figure* figure) {
  for (const Name& row : kNames) {
    if (row.name != name) continue;
    *figure = row.figure;
    return true;
  }
  return false;
}

void answer(Measurement& m) {
  if (!m.skipped.empty() || m.estimate > 0) return;
  const Report r = report(m.share);
  if (!r.answered) {
    m.skipped = r.messages.empty() ? "no answer" : r.messages.front().text;
    return;
  }
  m.share = r.share;
  const bool saved = m.figure == Figure::saved || m.figure == Figure::loss_peak;
  const bool training = m.figure <= Figure::out_of_memory || saved;
  if (training && r.training.stages.empty()) {
    m.skipped = r.training.faults.empty() ? "no bill" : r.training.faults.front().text;
    return;
  }
  Amount amount;
  if (m.figure == Figure::ran || m.figure == Figure::out_of_memory)
    amount = verdict_amount(r, m);
  else if (saved)
    amount = saved_amount(r, m);
  else if (training)
    amount = training_amount(r, m);
  else if (is_compute(m.figure))
    amount = compute_amount(r, m);
  else
    amount = serving_amount(r, m);
  if (amount.value == 0 && is_compute(m.figure) && !r.training.faults.empty()) {
    m.skipped = "refused: " + r.training.faults.front().text;
    return;
  }
  if (amount.value == 0 && is_timed(m.figure)) {
    m.skipped = "the board's bandwidth or peak is not known";
    return;
  }
  m.estimate = amount.value;
  m.band = amount.band;
}

}  // namespace vram::accuracy
