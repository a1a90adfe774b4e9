#pragma once

#include <string>

#include "engine/advice/log/text.h"

namespace vram {

/// What the program was started with, as a command that read_launch takes: the arguments that it repeats
/// ("non-default args: {'model': ...}"), else a command that stands in the log; "" where neither does.
std::string started_with(const LogText& text);

}  // namespace vram
