#pragma once

#include <string_view>
#include <vector>

#include "engine/plan/plan.h"

namespace cli {

// Exit statuses.
inline constexpr int kAnswered = 0, kCheckFailed = 1, kNoAnswer = 2;

/// A line on standard error, behind the program's name.
void say(std::string_view text);
void say(const std::vector<vram::Message>& messages, std::string_view before = "");

/// To standard output.
void print(std::string_view text);
/// Has all of it been written?
bool is_printed();

}  // namespace cli
