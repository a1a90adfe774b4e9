#include "engine/report/compare.h"
#include "engine/report/json_parts.h"
#include "engine/report/report.h"
#include "engine/training/timeline.h"

// The order of the members is that of the contract.
namespace vram {
namespace {

void write_factors(JsonWriter& json, std::span<const Factor> factors) {
  json.open('[', "factors");
  for (const Factor& factor : factors) {
    json.open('{');
    json.member("symbol", factor.symbol);
    json.member("value", factor.value());
    json.member("op", factor.divides() ? "÷" : "×");
    json.member("meaning", factor.meaning);
    json.close('}');
  }
  json.close(']');
}

void write_lines(JsonWriter& json, std::string_view name, Lines lines);

void write_line_members(JsonWriter& json, const Line& line) {
  json.member("id", line.id);
  json.member("label", line.label);
  json.member("bytes", line.bytes);
  json.member("band_bytes", line.band_bytes);
  if (!line.factors.empty()) {
    json.member("formula", formula(line));
    write_factors(json, line.factors);
  }
  json.member_if("note", line.note);
  if (line.factors.empty()) write_lines(json, "children", line.children);
}

void write_lines(JsonWriter& json, std::string_view name, Lines lines) {
  json.open('[', name);
  for (const Line& line : lines) {
    json.open('{');
    write_line_members(json, line);
    json.close('}');
  }
  json.close(']');
}

void write_model(JsonWriter& json, const Plan& plan) {
  const Model& model = *plan.subject;
  const auto known = [](double count) { return count > 0 ? std::optional(count) : std::nullopt; };
  json.open('{', "model");
  json.member("id", plan.model);
  json.member("name", model.name);
  json.member("parameters", known(model.nominal_parameters));
  json.member("active_parameters", known(model.active_parameters));
  json.member("embedding_parameters", known(model.embedding_parameters));
  json.close('}');
}

void write_hardware(JsonWriter& json, const Plan& plan) {
  json.open('{', "hardware");
  json.member("id", plan.gpu);
  json.member("name", plan.accelerator->name);
  json.member("gpus", plan.gpus);
  json.member("memory_bytes", static_cast<uint64_t>(plan.gpu_mem));
  json.close('}');
}

void write_phases(JsonWriter& json, const std::vector<Phase>& phases) {
  json.open('[', "phases");
  for (const Phase& phase : phases) {
    json.open('{');
    json.member("id", phase.id);
    json.member("allocated_bytes", phase.allocated_bytes);
    write_lines(json, "lines", phase.lines);
    json.close('}');
  }
  json.close(']');
}

void write_stages(JsonWriter& json, const std::vector<StageBill>& stages) {
  json.open('[', "stages");
  for (const StageBill& stage : stages) {
    json.open('{');
    json.member("stage", static_cast<int64_t>(stage.stage));
    json.member("layers", stage.layers);
    json.member("allocated_bytes", stage.allocated_bytes);
    json.member("device_bytes", stage.device_bytes);
    json.member("phase", stage.phase);
    json.close('}');
  }
  json.close(']');
}

void write_training_napkin(JsonWriter& json, const TrainingNapkin& napkin) {
  json.open('{', "napkin");
  json.member("states_bytes", napkin.states_bytes);
  json.member("activations_bytes", napkin.activations_bytes);
  json.member("buffers_bytes", napkin.buffers_bytes);
  json.member("total_bytes", napkin.total_bytes);
  json.member("gpus", napkin.gpus);
  json.close('}');
}

void write_training_bill(JsonWriter& json, const TrainingBill& bill) {
  json.member("phase", bill.phase);
  json.member("stage", static_cast<int64_t>(bill.stage));
  json.member("allocated_bytes", bill.allocated_bytes);
  json.member("reserved_bytes", bill.reserved_bytes);
  json.member("device_bytes", bill.device_bytes);
  json.member("band_bytes", bill.band_bytes);
  json.member("headroom_bytes", bill.headroom_bytes);
  write_lines(json, "lines", bill.lines);
  write_phases(json, bill.phases);
  write_stages(json, bill.stages);
  json.member("host_bytes_per_node", bill.host_bytes_per_node);
  if (bill.host_verdict) json.member("host_verdict", verdict_word(*bill.host_verdict));
  json.member("host_load_bytes_per_node", bill.host_load_bytes_per_node);
}

void write_timeline(JsonWriter& json, const Report& report) {
  json.open('[', "timeline");
  for (const TimelinePoint& point : training_timeline(report.plan, report.compute.step_seconds.value_or(1))) {
    json.open('{');
    json.member("t", point.t);
    json.member("stage", static_cast<int64_t>(point.stage));
    json.member("event", point.event);
    if (point.micro_batch >= 0) json.member("micro_batch", static_cast<int64_t>(point.micro_batch));
    if (point.layer >= 0) json.member("layer", static_cast<int64_t>(point.layer));
    json.member("allocated_bytes", point.allocated_bytes);
    json.close('}');
  }
  json.close(']');
}

void write_training(JsonWriter& json, const Report& report, bool timeline) {
  const TrainingBill& bill = report.training;
  json.open('{', "training");
  json.member("verdict", verdict_word(bill.verdict));
  if (bill.verdict != Verdict::invalid) write_training_bill(json, bill);
  if (bill.verdict != Verdict::invalid && timeline) write_timeline(json, report);
  write_training_napkin(json, bill.napkin);
  json.close('}');
}

void write_traffic(JsonWriter& json, const std::vector<Traffic>& traffic) {
  json.open('[', "traffic");
  for (const Traffic& item : traffic) {
    json.open('{');
    write_line_members(json, item.line);
    json.member("link", item.link);
    json.member("seconds", item.seconds);
    json.member("exposed_seconds", item.exposed_seconds);
    json.close('}');
  }
  json.close(']');
}

void write_compute(JsonWriter& json, const ComputeFigures& compute) {
  json.open('{', "compute");
  json.member("flops_per_token", compute.flops_per_token);
  json.member("step_flops", compute.step_flops);
  json.member("model_flops", compute.model_flops);
  json.member("hardware_flops", compute.hardware_flops);
  json.member("mfu", compute.mfu);
  json.member("hfu", compute.hfu);
  if (compute.mfu) json.member_if("mfu_source", compute.mfu_source);
  json.member("mfu_band", compute.mfu_band);
  json.member_if("bound", compute.bound);
  json.member("attention_share", compute.attention_share);
  json.member("micro_batches", compute.micro_batches);
  json.member("step_seconds", compute.step_seconds);
  json.member("tokens_per_second", compute.tokens_per_second);
  json.member("usd_per_billion_tokens", compute.usd_per_billion_tokens);
  json.member("days", compute.days);
  json.member("gpu_hours", compute.gpu_hours);
  json.member("usd", compute.usd);
  json.member("kwh", compute.kwh);
  write_traffic(json, compute.traffic);
  json.member("napkin_flops", compute.napkin_flops);
  json.close('}');
}

void write_serving_napkin(JsonWriter& json, const ServingNapkin& napkin) {
  json.open('{', "napkin");
  json.member("weights_bytes", napkin.weights_bytes);
  json.member("reserve_bytes", napkin.reserve_bytes);
  json.member("kv_bytes_per_request", napkin.kv_bytes_per_request);
  json.member("max_concurrency", napkin.max_concurrency);
  json.member("flops_per_token", napkin.flops_per_token);
  json.close('}');
}

void write_capacity(JsonWriter& json, const ServingBill& bill) {
  json.member("weights_bytes_per_gpu", bill.weights_bytes_per_gpu);
  json.member("kv_bytes_per_token", bill.kv_bytes_per_token);
  json.member("kv_bytes_per_token_beyond_window", bill.kv_bytes_per_token_beyond_window);
  json.member("kv_bytes_per_token_per_gpu", bill.kv_bytes_per_token_per_gpu);
  json.member("kv_bytes_per_request", bill.kv_bytes_per_request);
  json.member("kv_budget_bytes_per_gpu", bill.kv_budget_bytes_per_gpu);
  json.member("kv_tokens", bill.kv_tokens);
  json.member("max_concurrency", bill.max_concurrency);
  json.member("max_concurrency_p99", bill.max_concurrency_p99);
  json.member("max_concurrency_at_max_len", bill.max_concurrency_at_max_len);
  json.member("max_concurrency_at_tpot", bill.max_concurrency_at_tpot);
  json.member("max_concurrency_at_ttft", bill.max_concurrency_at_ttft);
  json.member("promised_concurrency", bill.promised_concurrency);
  json.member("longest_context", bill.longest_context);
  json.member("kv_unused_share", bill.kv_unused_share);
  json.member("kv_unused_share_reserved", bill.kv_unused_share_reserved);
  json.member("replicas_needed", bill.replicas_needed);
  json.member("max_concurrency_short", bill.max_concurrency_short);
  json.member("max_concurrency_long", bill.max_concurrency_long);
  json.member("replicas_needed_apart", bill.replicas_needed_apart);
  json.member_if("bound", bill.bound);
}

void write_serving(JsonWriter& json, const ServingBill& bill) {
  json.open('{', "serving");
  json.member("verdict", verdict_word(bill.verdict));
  write_capacity(json, bill);
  if (bill.verdict != Verdict::invalid) {
    json.member("device_bytes", bill.device_bytes);
    json.member("band_bytes", bill.band_bytes);
    write_lines(json, "lines", bill.lines);
  }
  json.member("host_bytes", bill.host_bytes);
  if (!bill.host_lines.empty()) write_lines(json, "host_lines", bill.host_lines);
  json.member("swapped_requests", bill.swapped_requests);
  json.member("flops_per_token", bill.flops_per_token);
  json.member("prefill_seconds", bill.prefill_seconds);
  json.member("ttft_seconds", bill.ttft_seconds);
  json.member("ttft_burst_seconds", bill.ttft_burst_seconds);
  json.member("decode_seconds_per_token", bill.decode_seconds_per_token);
  json.member("tokens_per_second", bill.tokens_per_second);
  json.member("requests_per_second", bill.requests_per_second);
  json.member("usd_per_million_tokens", bill.usd_per_million_tokens);
  json.member("speed_band", bill.speed_band);
  write_serving_napkin(json, bill.napkin);
  json.close('}');
}

void write_compared_lines(JsonWriter& json, std::string_view name, const std::vector<ComparedLine>& lines) {
  json.open('[', name);
  for (const ComparedLine& line : lines) {
    json.open('{');
    json.member("id", line.path);
    json.member("label", line.label);
    json.member("bytes", line.here);
    json.member("vs_bytes", line.there);
    json.member("difference_bytes", line.difference());
    json.close('}');
  }
  json.close(']');
}

void write_compared_keys(JsonWriter& json, const std::vector<ComparedKey>& keys) {
  json.open('[', "keys");
  for (const ComparedKey& key : keys) {
    json.open('{');
    json.member("key", field(key.key).name);
    json.member("value", key.here);
    json.member("vs_value", key.there);
    json.close('}');
  }
  json.close(']');
}

void write_compared_figures(JsonWriter& json, const std::vector<ComparedFigure>& figures) {
  json.open('[', "figures");
  for (const ComparedFigure& figure : figures) {
    json.open('{');
    json.member("id", figure.id);
    json.member("label", figure.label);
    json.member("value", figure.here);
    json.member("vs_value", figure.there);
    json.member("difference", figure.difference());
    json.close('}');
  }
  json.close(']');
}

void write_comparison(JsonWriter& json, const Report& report) {
  const Comparison comparison = compare(report, *report.other);
  json.open('{', "compare");
  json.member("vs_share", report.other->share);
  json.member("training_verdict", verdict_word(report.training.verdict));
  json.member("vs_training_verdict", verdict_word(report.other->training.verdict));
  json.member("serving_verdict", verdict_word(report.serving.verdict));
  json.member("vs_serving_verdict", verdict_word(report.other->serving.verdict));
  write_compared_keys(json, comparison.keys);
  write_compared_figures(json, comparison.figures);
  write_compared_lines(json, "training", comparison.training);
  write_compared_lines(json, "serving", comparison.serving);
  json.close('}');
}

}  // namespace

std::string report_json(const Report& report, bool timeline) {
  JsonWriter json;
  json.open('{');
  if (report.answered) {
    json.member("version", uint64_t{1});
    json.member("engine_version", kEngineVersion);
    json.member("share", report.share);
    write_model(json, report.plan);
    write_hardware(json, report.plan);
    write_training(json, report, timeline);
    write_compute(json, report.compute);
    write_serving(json, report.serving);
    write_findings(json, report.findings);
    if (report.other) write_comparison(json, report);
  }
  write_message_list(json, report.messages);
  json.close('}');
  return json.text();
}

}  // namespace vram
