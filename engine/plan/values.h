#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/plan/plan.h"

namespace vram {

/// What one key holds, whatever the type of its member: a number (of a flag 0 or 1, of a choice its index) or a text.
struct Value {
  double number = 0;
  std::string text;
  bool is_share = false;  // of size_or_share: `number` is a share
};

/// Empty where the text is no value of the field.
std::optional<Value> read_value(const Field& field, std::string_view text);

/// "a whole number from 1 to 65536", "one of full, lora, qlora".
std::string accepted_values(const Field& field);

void store_value(Plan& plan, Key key, const Value& value);
Value load_value(const Plan& plan, Key key);

}  // namespace vram
