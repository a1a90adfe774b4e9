#include <algorithm>

#include "engine/plan/values.h"
#include "engine/report/answer.h"
#include "engine/report/json_parts.h"
#include "engine/report/json_writer.h"

namespace vram {
namespace {

void write_item(JsonWriter& json, const LayoutRow& row, std::string_view name = "") {
  json.open('{', name);
  json.member("share", write_plan(row.plan, false));
  json.member("gpus", row.plan.gpus);
  json.member("device_bytes", row.device_bytes);
  json.member("band_bytes", row.band_bytes);
  json.member("headroom_bytes", row.headroom_bytes);
  json.member("verdict", verdict_word(row.verdict));
  json.member("mfu", row.mfu);
  json.member("step_seconds", row.step_seconds);
  json.member("tokens_per_second", row.tokens_per_second);
  json.member("days", row.days);
  json.member("gpu_hours", row.gpu_hours);
  json.member("usd", row.usd);
  json.close('}');
}

void write_item(JsonWriter& json, const DeploymentRow& row, std::string_view name = "") {
  json.open('{', name);
  json.member("share", write_plan(row.plan, false));
  json.member("gpus", row.gpus);
  json.member("replicas", row.plan.replicas);
  json.member("device_bytes", row.device_bytes);
  json.member("verdict", verdict_word(row.verdict));
  json.member("concurrency", row.plan.concurrency);
  json.member("promised_concurrency", row.promised_concurrency);
  json.member("longest_context", row.longest_context);
  json.member("prefill_seconds", row.prefill_seconds);
  json.member("decode_seconds_per_token", row.decode_seconds_per_token);
  json.member("tokens_per_second", row.tokens_per_second);
  json.member("requests_per_second", row.requests_per_second);
  json.member("usd_per_million_tokens", row.usd_per_million_tokens);
  json.close('}');
}

void write_item(JsonWriter& json, const std::string& id) { json.member("", id); }

void write_item(JsonWriter& json, const FellOut& group) {
  json.open('{');
  json.member("reason", group.reason);
  json.member("count", static_cast<uint64_t>(group.count));
  json.close('}');
}

void write_item(JsonWriter& json, const Limit& limit) {
  json.open('{');
  json.member("id", limit.id);
  json.member("text", limit.text);
  json.member("value", limit.value);
  json.member_if("change", limit.change);
  json.close('}');
}

void write_item(JsonWriter& json, const Switch& one) {
  json.open('{');
  json.member("id", one.change.id);
  json.member("text", one.change.text);
  json.member("change", fragment(one.change));
  json.member("saves_bytes", one.saves_bytes);
  json.member("time_ratio", one.time_ratio);
  json.member("promised_concurrency", one.requests);
  json.member_if("quality", one.change.quality);
  json.member("verdict", verdict_word(one.verdict));
  json.close('}');
}

template <class Rows>
void write_list(JsonWriter& json, const char* name, const Rows& rows, size_t most) {
  json.open('[', name);
  for (size_t i = 0; i < std::min(most, rows.size()); ++i) write_item(json, rows[i]);
  json.close(']');
}

}  // namespace

std::string answer_json(const Answer& answer, size_t most) {
  JsonWriter json;
  json.open('{');
  json.member("question", field(Key::question).words[static_cast<size_t>(answer.question)]);
  json.member("tried", static_cast<uint64_t>(answer.tried));
  json.member("found", answer.found);
  if (answer.serving) {
    write_list(json, "deployments", answer.deployments, most);
  } else {
    write_list(json, "layouts", answer.layouts, most);
  }
  if (answer.nearest_layout) write_item(json, *answer.nearest_layout, "nearest");
  if (answer.nearest_deployment) write_item(json, *answer.nearest_deployment, "nearest");
  if (!answer.layouts_by_gpu.empty()) write_list(json, "by_gpu", answer.layouts_by_gpu, SIZE_MAX);
  if (!answer.deployments_by_gpu.empty()) write_list(json, "by_gpu", answer.deployments_by_gpu, SIZE_MAX);
  if (!answer.gpus_without.empty()) write_list(json, "gpus_without", answer.gpus_without, SIZE_MAX);
  write_list(json, "fell_out", answer.fell_out, SIZE_MAX);
  json.member("lacking_bytes", answer.lacking_bytes);
  write_list(json, "limits", answer.limits, SIZE_MAX);
  write_list(json, "switches", answer.switches, SIZE_MAX);
  write_message_list(json, answer.messages);
  json.close('}');
  return json.text();
}

}  // namespace vram
