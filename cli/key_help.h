#pragma once

#include <string>
#include <string_view>

#include "engine/plan/plan.h"

namespace cli {

/// "Training".
std::string_view group_title(vram::Group group);

/// A key's value in the plan in which nothing is given; "" where there is none.
std::string default_text(const vram::Field& field);

/// "a whole number from 1 to 65536 GPUs".
std::string values_text(const vram::Field& field);

/// All keys as flags with their help, in 80 columns.
std::string key_help();

}  // namespace cli
