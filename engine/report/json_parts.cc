#include "engine/report/json_parts.h"

namespace vram {

void write_message_list(JsonWriter& json, const std::vector<Message>& messages) {
  json.open('[', "messages");
  for (const Message& message : messages) {
    json.open('{');
    json.member("key", message.key);
    json.member("given", message.given);
    json.member("text", message.text);
    json.close('}');
  }
  json.close(']');
}

void write_findings(JsonWriter& json, const std::vector<Finding>& findings) {
  constexpr const char* kSeverities[] = {"error", "warning", "info"};
  json.open('[', "findings");
  for (const Finding& finding : findings) {
    json.open('{');
    json.member("severity", kSeverities[static_cast<size_t>(finding.severity)]);
    json.member("id", finding.id);
    json.member("text", finding.text);
    json.member_if("change", finding.change);
    json.member("saves_bytes", finding.saves_bytes);
    json.open('{', "costs");
    json.member("time_ratio", finding.time_ratio);
    json.member("usd", finding.usd);
    json.member_if("quality", finding.quality);
    json.close('}');
    json.close('}');
  }
  json.close(']');
}

}  // namespace vram
