#pragma once

#include <string>

#include "engine/advice/log/read_log.h"
#include "engine/advice/log/text.h"

namespace vram {

/// What only the whole of a command tells: the model of a `vllm serve` whose flags stand before it, and llama.cpp's
/// short flags, which are other programs' too.
void read_commands(const LogText& text, LogReading& reading);

/// To the end of the line, and of those that a backslash or a flag joins to it; or to that of Markdown's code.
std::string command_at(const LogText& text, size_t at);

}  // namespace vram
