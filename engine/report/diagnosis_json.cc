#include <cmath>

#include "engine/report/diagnosis.h"
#include "engine/report/json_parts.h"

namespace vram {
namespace {

void write_read(JsonWriter& json, const LogReading& log) {
  json.open('[', "read");
  for (const LogFigure& figure : log.figures) {
    json.open('{');
    json.member("what", figure.what);
    if (figure.kind == CaptureKind::bytes) json.member("bytes", figure.bytes);
    if (figure.kind == CaptureKind::number) json.member("value", figure.number);
    if (figure.kind == CaptureKind::text) json.member("value", figure.text);
    json.member_if("printed", figure.printed);
    json.member("tool", figure.tool);
    json.member_if("on", figure.on);
    if (figure.device >= 0) json.member("device", static_cast<int64_t>(figure.device));
    if (figure.rank >= 0) json.member("rank", static_cast<int64_t>(figure.rank));
    json.member("line", static_cast<int64_t>(figure.line));
    if (figure.derived) json.member("derived", uint64_t{1});
    json.close('}');
  }
  json.close(']');
}

void write_unread(JsonWriter& json, const LogReading& log) {
  json.open('[', "unread");
  for (const LogGap& gap : log.gaps) {
    json.open('{');
    json.member("what", gap.what);
    json.member_if("printed", gap.printed);
    json.member("why", gap.why);
    json.member("line", static_cast<int64_t>(gap.line));
    json.close('}');
  }
  json.close(']');
}

void write_bytes(JsonWriter& json, const char* name, const std::optional<double>& bytes) {
  if (bytes && std::fabs(*bytes) < 9e18) json.member(name, static_cast<int64_t>(std::floor(*bytes + 0.5)));
}

void write_measured(JsonWriter& json, const Measured& m) {
  json.open('{', "measured");
  write_bytes(json, "allocated_bytes", m.allocated);
  write_bytes(json, "reserved_bytes", m.reserved);
  write_bytes(json, "device_bytes", m.device);
  write_bytes(json, "process_bytes", m.process);
  write_bytes(json, "fragmentation_bytes", m.unallocated);
  write_bytes(json, "outside_bytes", m.outside);
  write_bytes(json, "other_bytes", m.other);
  write_bytes(json, "capacity_bytes", m.capacity);
  write_bytes(json, "free_bytes", m.free);
  write_bytes(json, "tried_bytes", m.tried);
  write_bytes(json, "weights_bytes", m.weights);
  write_bytes(json, "activations_bytes", m.activations);
  write_bytes(json, "graphs_bytes", m.graphs);
  write_bytes(json, "kv_pool_bytes", m.kv_pool);
  json.member("kv_tokens", m.kv_tokens);
  json.member("tokens_per_second", m.tokens_per_second);
  json.member("ttft", m.ttft);
  json.member("tpot", m.tpot);
  json.close('}');
}

void write_beside(JsonWriter& json, const std::vector<Beside>& rows) {
  json.open('[', "beside");
  for (const Beside& row : rows) {
    json.open('{');
    json.member("id", row.id);
    json.member("label", row.label);
    if (row.bytes) {
      write_bytes(json, "estimated_bytes", row.estimated);
      write_bytes(json, "measured_bytes", row.measured);
    } else {
      json.member("estimated", row.estimated);
      json.member("measured", row.measured);
    }
    json.member_if("remark", row.remark);
    json.close('}');
  }
  json.close(']');
}

}  // namespace

std::string diagnosis_json(const Diagnosis& diagnosis) {
  JsonWriter json;
  json.open('{');
  json.member("share", diagnosed_share(diagnosis));
  json.member_if("settings", diagnosis.settings);
  write_read(json, diagnosis.log);
  write_unread(json, diagnosis.log);
  write_measured(json, diagnosis.measured);
  json.member_if("symptom", symptom_word(diagnosis.symptom));
  write_beside(json, diagnosis.beside);
  write_findings(json, diagnosis.findings);
  write_message_list(json, diagnosis.messages);
  json.close('}');
  return json.text();
}

}  // namespace vram
