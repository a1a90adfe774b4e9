#pragma once

#include "engine/advice/log/read_log.h"

namespace vram {

/// The model of a `vllm serve` whose flags stand before it, which no row can tell from a flag's value.
void read_command_line(const LogText& text, LogReading& reading);

}  // namespace vram
