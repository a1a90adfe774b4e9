#include "engine/report/figure_list.h"
#include "engine/units.h"

namespace vram {
namespace {

std::string tokens(double count) { return show_grouped(count) + " tokens"; }

void add_cache(const ServingBill& bill, FigureList& list) {
  const Report& report = list.report;
  const auto exact = [](uint64_t bytes) { return show_grouped(static_cast<double>(bytes)) + " B"; };
  if (bill.weights_bytes_per_gpu) list.bytes("Weights, a GPU", *bill.weights_bytes_per_gpu);
  if (bill.kv_bytes_per_token) {
    const bool shared = bill.kv_bytes_per_token_per_gpu && *bill.kv_bytes_per_token_per_gpu != *bill.kv_bytes_per_token;
    list.add("KV cache, a token", exact(*bill.kv_bytes_per_token),
             shared ? exact(*bill.kv_bytes_per_token_per_gpu) + " a GPU" : "");
  }
  if (bill.kv_bytes_per_token_beyond_window && bill.kv_bytes_per_token_beyond_window != bill.kv_bytes_per_token) {
    list.add("... beyond the window", exact(*bill.kv_bytes_per_token_beyond_window));
  }
  list.bytes("KV cache, a request", bill.kv_bytes_per_request,
             tokens(report.plan.prompt) + " in, " + tokens(report.plan.output) + " out");
  list.bytes("KV budget, a GPU", bill.kv_budget_bytes_per_gpu,
             bill.kv_tokens ? tokens(static_cast<double>(*bill.kv_tokens)) + " a replica" : "");
}

/// What paging is worth.
std::string unpaged_note(const ServingBill& bill) {
  if (!bill.kv_unused_share_reserved || bill.kv_unused_share == bill.kv_unused_share_reserved) return "";
  return percent(*bill.kv_unused_share_reserved) + " without paging";
}

void add_capacity(const ServingBill& bill, FigureList& list) {
  const Plan& plan = list.report.plan;
  list.requests("Requests at once", bill.max_concurrency, "at the mean length");
  if (plan.prompt_p99 != plan.prompt || plan.output_p99 != plan.output) {
    list.requests("... at P99", bill.max_concurrency_p99);
  }
  list.requests("... at the longest", bill.max_concurrency_at_max_len, tokens(plan.max_len) + " each");
  list.requests("... at the tpot asked", bill.max_concurrency_at_tpot);
  list.requests("... at the ttft asked", bill.max_concurrency_at_ttft);
  list.requests("Promised", bill.promised_concurrency,
                percent(plan.derate) + " of that; " + show_grouped(plan.concurrency) + " asked for");
  if (bill.longest_context) {
    list.add("Longest context", tokens(*bill.longest_context),
             "with " + counted(plan.concurrency, "request", "requests") + " at once");
  }
  if (bill.kv_unused_share) {
    list.add("Held, but unused", percent(*bill.kv_unused_share), unpaged_note(bill));
  }
  list.requests("Replicas needed", bill.replicas_needed);
  list.requests("Short requests alone", bill.max_concurrency_short, "a replica, in a pool of their own");
  list.requests("Long requests alone", bill.max_concurrency_long, "a replica, in a pool of their own");
  list.requests("Replicas in two pools", bill.replicas_needed_apart);
  list.requests("Waiting in swap", bill.swapped_requests);
  list.bytes("Host memory", bill.host_bytes, "of a replica");
}

void add_speed(const ServingBill& bill, FigureList& list) {
  const std::string load = "at " + counted(list.report.plan.concurrency, "request", "requests");
  if (bill.flops_per_token) list.add("Work a token", flops_text(*bill.flops_per_token), "forward");
  if (bill.prefill_seconds) list.add("Prefill", show_duration(*bill.prefill_seconds), "of one prompt");
  if (bill.ttft_seconds) list.add("First token", show_duration(*bill.ttft_seconds), load);
  if (bill.ttft_burst_seconds) list.add("... of a burst", show_duration(*bill.ttft_burst_seconds), "all at one moment");
  if (bill.decode_seconds_per_token) {
    list.add("Decode", show_duration(*bill.decode_seconds_per_token), "a token, " + load);
  }
  if (bill.tokens_per_second) list.add("Tokens a second", show_count(*bill.tokens_per_second), load);
  if (bill.requests_per_second) list.add("Requests a second", show_count(*bill.requests_per_second), load);
  if (bill.speed_band) list.add("Times and rates", "± " + percent(*bill.speed_band));
  if (bill.usd_per_million_tokens) {
    list.add("Cost", show_fixed(*bill.usd_per_million_tokens, 2) + " USD", "a million tokens");
  }
  if (*bill.bound) list.add("Bound by", bill.bound);
}

}  // namespace

std::vector<Figure> serving_figures(const Report& report) {
  FigureList list(report);
  add_cache(report.serving, list);
  add_capacity(report.serving, list);
  add_speed(report.serving, list);
  return list.figures;
}

std::vector<Figure> serving_napkin_figures(const Report& report) {
  const ServingNapkin& napkin = report.serving.napkin;
  FigureList list(report);
  list.bytes("Weights", napkin.weights_bytes, "parameters × nominal bytes");
  list.bytes("Reserve", napkin.reserve_bytes, "a quarter of the weights");
  list.bytes("KV cache, a request", napkin.kv_bytes_per_request);
  list.requests("Requests at once", napkin.max_concurrency, "(memory − weights − reserve) ÷ request");
  if (napkin.flops_per_token) list.add("Work a token", flops_text(*napkin.flops_per_token), "2 N");
  return list.figures;
}

}  // namespace vram
