#pragma once

#include <string_view>

#include "engine/advice/log/read_log.h"

namespace vram {

inline constexpr uint32_t kFirstTableMessage = 1u << 20;  // beyond those of the rest of a log

/// A size of a table; `message` tells its row from others.
LogFigure table_size(std::string_view what, int64_t bytes, std::string_view printed, const char* tool, uint32_t message,
                     uint32_t line);

/// Tables with commas, whose head names the columns: nvidia-smi --format=csv, rocm-smi --csv.
void read_device_csv(const LogText& text, LogReading& reading);

}  // namespace vram
