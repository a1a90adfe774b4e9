#pragma once

#include <string_view>

#include "engine/advice/log/read_log.h"

namespace vram {

inline constexpr uint32_t kFirstTableMessage = 1u << 20;  // beyond those of the rest of a log

/// Tables with commas, whose head names the columns: nvidia-smi --format=csv, rocm-smi --csv.
void read_device_csv(const LogText& text, LogReading& reading);

}  // namespace vram
