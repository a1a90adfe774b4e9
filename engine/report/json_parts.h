#pragma once

#include <vector>

#include "engine/advice/findings.h"
#include "engine/report/json_writer.h"

namespace vram {

// Members that several documents have.
void write_message_list(JsonWriter& json, const std::vector<Message>& messages);  // "messages"
void write_findings(JsonWriter& json, const std::vector<Finding>& findings);      // "findings"

}  // namespace vram
