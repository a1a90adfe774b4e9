#include "engine/serving/capacity.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/largest.h"
#include "engine/plan/measured_with.h"
#include "engine/serving/allocations.h"
#include "engine/serving/cache_blocks.h"
#include "engine/serving/sglang.h"
#include "engine/serving/vllm_run.h"
#include "engine/units.h"

namespace vram {
namespace {

constexpr double kLongestTokens = 1e9;

/// A given reserve stands for everything but weights and KV.
void apply_reserve(Sheet& sheet, const Plan& plan, StageCapacity& stage) {
  if (!plan.has(Key::reserve)) return;
  stage.runtime = {nothing(sheet, "activations", "Activations"), nothing(sheet, "graphs", "CUDA graphs"),
                   nothing(sheet, "buffers", "Buffers"), nothing(sheet, "context", "CUDA context")};
  if (plan.reserve_share > 0) {
    stage.reserve = sheet.leaf("reserve", "Reserve",
                               {times("", plan.reserve_share, "share of the weights"),
                                times("W", static_cast<double>(stage.weights.bytes), "B of weights")},
                               "given in the plan");
  } else {
    stage.reserve = sheet.leaf("reserve", "Reserve", {times("", plan.reserve, "B")}, "given in the plan");
  }
}

// CUDA shows 0.35 to 0.8 GiB less than the driver reports: 79.2 of 79.65 GiB (H100), 23.6 of 24.0 (RTX 4090), 39.5 of
// 40 (A100), 139.8 of 140.4 (H200), 178.4 of 179.1 (B200), in start-up logs of vllm and sglang.
constexpr double kHiddenByDriver = 0.5 * kGiB;

/// What the engine sees of the card; memory given in the plan is taken to be that.
double visible_bytes(const Plan& plan) {
  const bool hides = plan.accelerator->vendor == "NVIDIA" && !plan.has(Key::gpu_mem);
  return hides ? plan.gpu_mem - kHiddenByDriver : plan.gpu_mem;
}

/// Memory of an engine that does not preallocate: nothing beyond utilization and margin.
double limit_bytes(const Plan& plan) { return plan.gpu_mem * std::min(plan.utilization, 1 - plan.margin); }

double held_bytes(const StageCapacity& stage) {
  return static_cast<double>(stage.weights.bytes + stage.runtime.bytes() + stage.reserve.bytes);
}

double communication_bytes(const StageCapacity& stage) {
  for (const Line& line : stage.runtime.buffers.children) {
    if (std::string_view(line.id) == "communication") return static_cast<double>(line.bytes);
  }
  return 0;
}

/// v1/worker/gpu_worker.py, determine_available_memory: utilization of the visible memory, less what loading and the
/// profile run added. The context was there before, and graphs are captured later: which of them count, the version
/// says.
double vllm_budget(const Plan& plan, const StageCapacity& stage) {
  const VllmRun run = vllm_run(plan);
  double outside = run.counts_communication ? 0 : communication_bytes(stage);
  if (!run.counts_graphs) outside += static_cast<double>(stage.runtime.graphs.bytes);
  if (!run.counts_context) outside += static_cast<double>(stage.runtime.context.bytes);
  return visible_bytes(plan) * plan.utilization - held_bytes(stage) + outside;
}

/// sglang/srt/model_executor/model_runner.py, profile_max_num_token: mem_fraction_static of the memory that was free
/// before loading, NCCL already there, is for weights and pools; activations, graphs and the request table live in the
/// rest.
double sglang_budget(const Plan& plan, const StageCapacity& stage) {
  const double before = static_cast<double>(stage.runtime.context.bytes) + communication_bytes(stage);
  const double share = plan.utilization * kept_fraction(plan);
  return (visible_bytes(plan) - before) * share - static_cast<double>(stage.weights.bytes);
}

/// By how much the measured pool differs from that of the plan as it was then: a changed plan differs as much.
double measured_shift(Sheet& sheet, const Plan& plan) {
  if (plan.measured_kv_pool <= 0 || !plan.has(Key::measured_with)) return 0;
  Plan then = plan_when_measured(plan);
  clear_value(then, Key::measured_kv_pool);
  clear_value(then, Key::measured_with);
  if (!serving_faults(then).empty()) return 0;
  return plan.measured_kv_pool - tightest_stage(sheet, then, replica_of(then)).budget_bytes;
}

double budget(const Plan& plan, const StageCapacity& stage) {
  switch (plan.engine) {
    case Engine::trtllm:  // free_gpu_memory_fraction of what is free once the engine is loaded
      return (visible_bytes(plan) - held_bytes(stage)) * plan.utilization;
    case Engine::sglang:
      return sglang_budget(plan, stage);
    case Engine::vllm:
      return vllm_budget(plan, stage);
    default:
      return limit_bytes(plan) - held_bytes(stage);
  }
}

// srt/server_args.py, mamba_full_memory_ratio: states get this much of what tokens get.
constexpr double kStatesToTokens = 0.9;

/// A plan that finds nothing of what it has seen: sglang's --disable-radix-cache.
bool caches_no_prefix(const Plan& plan) { return plan.has(Key::prefix_hit) && plan.prefix_hit <= 0; }

}  // namespace

/// sglang sets a part of its pool apart for states, by a ratio; of `max_seqs` requests only where prefixes are not
/// cached (srt/model_executor/model_runner_kv_cache_mixin.py, handle_max_mamba_cache). A pool read off a log is that of
/// the tokens.
double state_pool_bytes(const Plan& plan, const StageCapacity& stage) {
  const RequestBytes& each = stage.demand.each;
  if (plan.engine != Engine::sglang || each.states <= 0 || each.tokens <= 0 || plan.measured_kv_pool > 0) return 0;
  const bool counted = plan.has(Key::max_seqs) && caches_no_prefix(plan);
  if (counted) return std::min(stage.budget_bytes, plan.max_seqs * each.states);
  return stage.budget_bytes * kStatesToTokens / (1 + kStatesToTokens);
}

namespace {

/// States that sglang keeps free for each request where prefixes are cached, of which a tree holds its share
/// (model_runner_kv_cache_mixin.py, MAMBA_CACHE_SIZE_MAX_RUNNING_REQUESTS_RATIO; sglang#11214, 0.5.4): 134 of 512
/// clients of Qwen3.5-9B are under way on an H100.
double states_kept(const Plan& plan) {
  constexpr double kKept = 3, kSince = 5004;
  return caches_no_prefix(plan) || release_number(plan) < kSince ? 1 : kKept;
}

bool holds(const Plan& plan, const StageCapacity& stage, const RequestBytes& each, double requests) {
  const double apart = state_pool_bytes(plan, stage), left = stage.budget_bytes - apart - stage.demand.fixed;
  if (apart > 0) return requests * each.states * states_kept(plan) <= apart && requests * each.tokens <= left;
  return requests * each.all() <= left;
}

double rank_requests(const Plan& plan, const StageCapacity& stage, const RequestBytes& each) {
  if (each.all() <= 0) return 0;
  const double apart = state_pool_bytes(plan, stage);
  const double left = std::max(0.0, stage.budget_bytes - apart - stage.demand.fixed);
  return apart > 0 ? std::min(apart / each.states / states_kept(plan), left / each.tokens) : left / each.all();
}

bool tighter(const Plan& plan, const StageCapacity& a, const StageCapacity& b) {
  const double in_a = rank_requests(plan, a, a.demand.each), in_b = rank_requests(plan, b, b.demand.each);
  const bool caches_a = a.demand.each.all() > 0, caches_b = b.demand.each.all() > 0;
  if (!caches_a || !caches_b) return caches_a || (!caches_b && held_bytes(a) > held_bytes(b));
  return in_a != in_b ? in_a < in_b : held_bytes(a) > held_bytes(b);
}

/// sglang's pool is a tensor a layer of keys and one of values, or one of latents (memory_pool.py).
void add_pool_rounding(Sheet& sheet, const Plan& plan, StageCapacity& stage) {
  Line& buffers = stage.runtime.buffers;
  const bool one_kind = stage.groups.size() == 1 && stage.groups.front().state_bytes <= 0;
  if (plan.engine != Engine::sglang || !one_kind || buffers.children.empty()) return;
  const CacheGroup& group = stage.groups.front();
  const double tensors = group.layers * (group.latent ? 1 : 2);
  const double more = tensors > 0 ? std::ceil(tensors * allocator_rounding(stage.budget_bytes / tensors)) : 0;
  if (more <= 0) return;
  LineList children(sheet, buffers.children.size() + 1);
  children.append(buffers.children);
  children.push_back(sheet.leaf("pool_rounding", "Rounding of the pool", {times("", more, "B")}, kAllocatorRule, 1));
  buffers = sheet.group(buffers.id, buffers.label, children);
}

/// Stages of the same layers hold the same.
bool alike(const Model& model, const ServingStage& a, const ServingStage& b) {
  if (a.has_embedding != b.has_embedding || a.has_head != b.has_head) return false;
  if (a.without_experts != b.without_experts) return false;
  for (size_t k = 0; k < model.kinds.size(); ++k) {
    if (model.layers_of_kind(k, a.first, a.count) != model.layers_of_kind(k, b.first, b.count)) return false;
  }
  return true;
}

/// The four steps on one stage.
StageCapacity stage_capacity(Sheet& sheet, const Plan& plan, const Replica& replica, const ServingStage& stage,
                             double shift) {
  StageCapacity result;
  std::vector<WeightParcel> parcels = weight_parcels(plan, replica, stage);
  const WeightParcel rounding = allocator_rounding(plan, replica, stage);
  if (rounding.elements > 0) parcels.push_back(rounding);
  result.weights = weights_line(sheet, parcels);
  result.runtime = runtime_lines(sheet, plan, replica, stage);
  result.reserve = nothing(sheet, "reserve", "Reserve");
  apply_reserve(sheet, plan, result);
  result.groups = cache_groups(plan, replica, stage);
  result.demand = cache_demand(plan, result.groups);
  const bool as_measured = plan.measured_kv_pool > 0 && !plan.has(Key::measured_with);
  const double bytes = as_measured ? plan.measured_kv_pool : budget(plan, result) + shift;
  result.budget_bytes = std::floor(std::max(0.0, bytes));
  add_pool_rounding(sheet, plan, result);
  return result;
}

}  // namespace

bool preallocates(const Plan& plan) {
  return plan.engine == Engine::vllm || plan.engine == Engine::sglang || plan.engine == Engine::trtllm;
}

StageCapacity tightest_stage(Sheet& sheet, const Plan& plan, const Replica& replica) {
  const std::vector<ServingStage> stages = serving_stages(plan, replica);
  const double shift = measured_shift(sheet, plan);
  StageCapacity tightest = stage_capacity(sheet, plan, replica, stages.front(), shift);
  for (size_t i = 1; i < stages.size(); ++i) {
    if (alike(*plan.subject, stages[i], stages[i - 1])) continue;
    StageCapacity candidate = stage_capacity(sheet, plan, replica, stages[i], shift);
    if (tighter(plan, candidate, tightest)) tightest = std::move(candidate);
  }
  return tightest;
}

double requests_held(const Plan& plan, const StageCapacity& stage, const Replica& replica, const RequestBytes& each) {
  return rank_requests(plan, stage, each) * replica.dp;
}

double requests_per_rank(const Plan& plan, const Replica& replica) { return ceil_div(plan.concurrency, replica.dp); }

double longest_context(const Plan& plan, const Replica& replica, const StageCapacity& stage) {
  const double requests = requests_per_rank(plan, replica);
  const double most = plan.max_len > 0 ? plan.max_len : kLongestTokens;
  return largest_that(0, most, [&](double tokens) {  // bytes of a request never shrink with its length
    return holds(plan, stage, request_bytes(plan, stage.groups, tokens), requests);
  });
}

namespace {

/// Each token in every layer; of windows as many as sglang's pool has.
double bits_a_token(const Plan& plan, const StageCapacity& stage) {
  double bits = 0;
  for (const CacheGroup& group : stage.groups) {
    const double share = plan.engine == Engine::sglang && group.window > 0 ? kWindowPoolRatio : 1;
    bits += share * group.layers * group.bits_per_token();
  }
  return bits;
}

bool is_uniform(const StageCapacity& stage) {
  for (const CacheGroup& group : stage.groups) {
    if (group.window > 0 || group.state_bytes > 0) return false;
  }
  return true;
}

}  // namespace

// vllm prints requests x max_len since (v1/core/kv_cache_utils.py, _report_kv_cache_config).
constexpr double kVllmPrintsRequests = 20002;  // 0.20.2

double tokens_held(const Plan& plan, const Replica& replica, const StageCapacity& stage) {
  const double bits = bits_a_token(plan, stage);
  if (bits <= 0) return 0;
  if (plan.engine == Engine::vllm && release_number(plan) < kVllmPrintsRequests) {
    const double printed = tokens_of_one_group(plan, stage.groups, stage.budget_bytes);
    if (printed > 0) return printed * replica.dp;
  }
  if (!is_uniform(stage) && plan.max_len > 0 &&
      plan.engine != Engine::sglang) {  // as vllm prints it: requests x max_len
    return std::floor(requests_held(plan, stage, replica, request_bytes(plan, stage.groups, plan.max_len)) *
                      plan.max_len);
  }
  const double block = block_tokens(plan, stage.groups), bytes = stage.budget_bytes - state_pool_bytes(plan, stage);
  return std::floor(bytes * 8 / (bits * block)) * block * replica.dp;
}

}  // namespace vram
