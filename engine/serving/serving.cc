#include "engine/serving/serving.h"

#include <algorithm>
#include <cmath>

#include "engine/compute/compute.h"
#include "engine/serving/cache_blocks.h"
#include "engine/serving/capacity.h"
#include "engine/serving/host.h"
#include "engine/serving/latency.h"
#include "engine/serving/napkin.h"
#include "engine/serving/paging.h"

namespace vram {
namespace {

/// Floor of a product of a share and a whole number, which rounding may have left just below a whole one.
double whole_share(double share, double of) { return std::floor(share * of + 1e-9 * (1 + of)); }

/// Neither matrices nor a count: KV can be billed, capacity cannot.
bool weights_known(const Plan& plan) { return plan.subject->nominal_parameters > 0; }

/// A preallocated pool: what the requests at the plan's concurrency use of it, and the rest.
Line pool_line(Sheet& sheet, const Plan& plan, const Replica& replica, const StageCapacity& stage) {
  const char* note = "the engine's whole budget, allocated at start";
  const auto budget = static_cast<uint64_t>(stage.budget_bytes);
  Line used = demand_line(sheet, plan, stage.groups, requests_per_rank(plan, replica));
  if (stage.groups.empty() || used.bytes > budget) {
    return sheet.leaf("kv_cache", "KV cache", {times("", stage.budget_bytes, "B left for the pool")}, note);
  }
  used.id = "requests";
  used.label = "Requests in flight";
  Line spare = sheet.leaf("spare", "Room for more", {times("", static_cast<double>(budget - used.bytes), "B")});
  return sheet.group("kv_cache", "KV cache", {used, spare}, note);
}

Line cache_line(Sheet& sheet, const Plan& plan, const Replica& replica, const StageCapacity& stage) {
  if (preallocates(plan)) return pool_line(sheet, plan, replica, stage);
  if (stage.groups.empty()) return nothing(sheet, "kv_cache", "KV cache");
  Line line = demand_line(sheet, plan, stage.groups, requests_per_rank(plan, replica));
  line.id = "kv_cache";
  line.label = "KV cache";
  return line;
}

/// Figures above 2^53 are refused by name.
void refuse_too_large(Lines lines, ServingBill& bill) {
  for (const Line& line : lines) {
    if (line.too_large)
      bill.faults.push_back(
          {"", "", std::string("serving: '") + line.label + "' is above 2^53 bytes, the most that is billed exactly"});
  }
}

void fill_lines(Sheet& sheet, const Plan& plan, const Replica& replica, const StageCapacity& stage, ServingBill& bill) {
  bill.lines = LineList(sheet, {stage.weights, cache_line(sheet, plan, replica, stage), stage.runtime.activations,
                                stage.runtime.graphs, stage.runtime.buffers, stage.runtime.context, stage.reserve});
  bill.device_bytes = total_bytes(bill.lines);
  bill.band_bytes = total_band_bytes(bill.lines);
  if (weights_known(plan)) bill.weights_bytes_per_gpu = stage.weights.bytes;
  refuse_too_large(bill.lines, bill);
}

/// Figures of the whole model, of a GPU and of one request.
void fill_cache_figures(Sheet& sheet, const Plan& plan, const StageCapacity& stage, ServingBill& bill) {
  const std::vector<CacheGroup> whole = cache_groups(plan, Replica{}, whole_model(plan));
  if (whole.empty()) return;
  bill.kv_bytes_per_token = token_bytes(whole, false);
  bill.kv_bytes_per_token_beyond_window = token_bytes(whole, true);
  bill.kv_bytes_per_token_per_gpu = token_bytes(stage.groups, false);
  bill.request_lines = request_lines(sheet, plan, whole, 1, request_tokens(plan));
  refuse_too_large(bill.request_lines, bill);
  bill.kv_bytes_per_request = total_bytes(bill.request_lines);
}

void fill_capacity(const Plan& plan, const Replica& replica, const StageCapacity& stage, ServingBill& bill) {
  const bool known = weights_known(plan) || plan.measured_kv_pool > 0;
  if (known) bill.kv_budget_bytes_per_gpu = static_cast<uint64_t>(stage.budget_bytes);
  if (stage.groups.empty() || stage.demand.each.all() <= 0 || !known) return;
  const auto held = [&](double tokens) {
    return requests_held(plan, stage, replica, request_bytes(plan, stage.groups, tokens));
  };
  const bool grows = request_bytes(plan, stage.groups, 1e6).tokens > 0;  // a state does not
  const double tokens = grows ? tokens_held(plan, replica, stage) : 0;
  if (grows && tokens <= static_cast<double>(kLargestBillBytes)) bill.kv_tokens = static_cast<uint64_t>(tokens);
  if (grows) {
    bill.longest_context = longest_context(plan, replica, stage);
    const UnusedPlaces unused = unused_places(plan, block_tokens(plan, stage.groups));
    bill.kv_unused_share = unused.held;
    bill.kv_unused_share_reserved = unused.reserved;
  }
  bill.max_concurrency = std::floor(requests_held(plan, stage, replica, stage.demand.each) / replica.dp) * replica.dp;
  bill.max_concurrency_p99 = held(plan.prompt_p99 + plan.output_p99);
  if (plan.max_len > 0) bill.max_concurrency_at_max_len = held(plan.max_len);
  bill.promised_concurrency = whole_share(plan.derate, *bill.max_concurrency);
  if (plan.gpu_bw <= 0) return;
  if (plan.tpot > 0) {
    bill.max_concurrency_at_tpot = requests_in_time(plan, replica, plan.tpot, 0, *bill.max_concurrency);
  }
  if (plan.ttft > 0) {
    bill.max_concurrency_at_ttft = requests_in_time(plan, replica, 0, plan.ttft, *bill.max_concurrency);
  }
}

/// Two populations in pools of their own: what a replica holds of either, and how many replicas `concurrency` then
/// takes.
void fill_pools_apart(const Plan& plan, const Replica& replica, const StageCapacity& stage, ServingBill& bill) {
  const bool two = plan.long_share > 0 && plan.long_share < 1;
  if (!bill.max_concurrency || !two || stage.demand.brief.all() <= 0 || stage.demand.longer.all() <= 0) return;
  bill.max_concurrency_short = requests_held(plan, stage, replica, stage.demand.brief);
  bill.max_concurrency_long = requests_held(plan, stage, replica, stage.demand.longer);
  const double brief = whole_share(plan.derate, std::floor(*bill.max_concurrency_short));
  const double longer = whole_share(plan.derate, std::floor(*bill.max_concurrency_long));
  if (brief < 1 || longer < 1 || plan.qps > 0) return;
  bill.replicas_needed_apart =
      ceil_div(plan.concurrency * (1 - plan.long_share), brief) + ceil_div(plan.concurrency * plan.long_share, longer);
}

void fill_host(Sheet& sheet, const Plan& plan, const Replica& replica, const StageCapacity& stage, ServingBill& bill) {
  bill.host_lines = host_lines(sheet, plan);
  refuse_too_large(bill.host_lines, bill);
  if (bill.host_lines.empty()) return;
  bill.host_bytes = total_bytes(bill.host_lines);
  if (plan.swap > 0) bill.swapped_requests = swapped_requests(plan, replica, stage);
}

/// Requests that meet the times asked for.
double requests_at_targets(const ServingBill& bill) {
  return std::min(bill.max_concurrency_at_tpot.value_or(1e9), bill.max_concurrency_at_ttft.value_or(1e9));
}

/// Replicas that serve `qps`, each at the concurrency it may promise; without `qps`, that hold `concurrency`.
void fill_replicas(const Plan& plan, const Replica& replica, ServingBill& bill) {
  if (!bill.promised_concurrency || *bill.promised_concurrency < 1) return;
  const double in_flight = std::max(1.0, std::min(*bill.promised_concurrency, requests_at_targets(bill)));
  if (plan.qps <= 0) {
    bill.replicas_needed = ceil_div(plan.concurrency, in_flight);
    return;
  }
  const double rate = requests_per_second(plan, latency(plan, replica, in_flight), in_flight);
  if (rate > 0) bill.replicas_needed = ceil_div(plan.qps, rate);
}

void fill_speed(const Plan& plan, const Replica& replica, ServingBill& bill) {
  const Model& model = *plan.subject;
  const double context = plan.prompt + plan.output / 2;
  if (model.has_shape) {
    bill.flops_per_token = forward_flops_per_token(model, context);
  } else if (model.nominal_parameters > 0) {
    bill.flops_per_token = 2 * model.nominal_parameters;
  }
  if (!weights_known(plan)) return;
  const Latency times = latency(plan, replica, plan.concurrency);
  if (times.step_seconds <= 0) return;
  if (times.prefill_seconds > 0) {
    bill.prefill_seconds = times.prefill_seconds;
    bill.ttft_seconds = times.first_token_seconds;
    if (plan.concurrency > 1) bill.ttft_burst_seconds = times.burst_seconds;
  }
  bill.speed_band = kLatencyBand;
  const double rate = requests_per_second(plan, times, plan.concurrency);
  if (rate > 0) bill.requests_per_second = rate * plan.replicas;
  bill.bound = times.compute_bound ? "compute" : "bandwidth";
  if (bill.max_concurrency && *bill.max_concurrency < plan.concurrency) bill.bound = "memory";
  if (plan.output <= 0) return;
  bill.decode_seconds_per_token = times.token_seconds;
  bill.tokens_per_second = rate * plan.output;
  if (plan.price > 0 && rate > 0) {
    bill.usd_per_million_tokens = plan.price * plan.serve_gpus / 3600 / *bill.tokens_per_second * 1e6;
  }
}

/// An impossible plan, or one of figures too large for exact bytes.
ServingBill napkin_only(const ServingBill& bill) {
  ServingBill result;
  result.capacity_bytes = bill.capacity_bytes;
  result.napkin = bill.napkin;
  result.faults = bill.faults;
  return result;
}

/// Does what may be promised reach `concurrency`? Between promise and theory it is tight.
Verdict verdict_of(const Plan& plan, const ServingBill& bill) {
  if (!bill.faults.empty()) return Verdict::invalid;
  if (bill.device_bytes > bill.capacity_bytes) return Verdict::exceeds;
  const double host = host_memory_bytes(plan);
  if (host > 0 && static_cast<double>(bill.host_bytes.value_or(0)) > host) return Verdict::exceeds;
  if (!weights_known(plan)) return Verdict::tight;
  if (!bill.max_concurrency) {
    return bill.device_bytes + bill.band_bytes > bill.capacity_bytes ? Verdict::tight : Verdict::fits;
  }
  if (*bill.max_concurrency < plan.concurrency) return Verdict::exceeds;
  const bool in_time =
      plan.concurrency <= requests_at_targets(bill);  // times are known to a third only: never `exceeds`
  return *bill.promised_concurrency < plan.concurrency || !in_time ? Verdict::tight : Verdict::fits;
}

}  // namespace

ServingBill serving_bill(const Plan& plan) {
  ServingBill bill;
  bill.napkin = serving_napkin(plan);
  bill.capacity_bytes = static_cast<uint64_t>(std::max(0.0, plan.gpu_mem * (1 - plan.margin)));
  bill.faults = serving_faults(plan);
  if (!bill.faults.empty()) return bill;
  const auto writes = std::make_shared<Sheet>();
  bill.sheet = writes;
  Sheet& sheet = *writes;
  const Replica replica = replica_of(plan);
  const StageCapacity stage = tightest_stage(sheet, plan, replica);
  fill_lines(sheet, plan, replica, stage, bill);
  fill_cache_figures(sheet, plan, stage, bill);
  fill_host(sheet, plan, replica, stage, bill);
  if (!bill.faults.empty()) return napkin_only(bill);
  fill_capacity(plan, replica, stage, bill);
  fill_pools_apart(plan, replica, stage, bill);
  fill_speed(plan, replica, bill);
  fill_replicas(plan, replica, bill);
  bill.verdict = verdict_of(plan, bill);
  return bill;
}

}  // namespace vram
