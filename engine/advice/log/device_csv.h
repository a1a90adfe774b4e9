#pragma once

#include <string_view>

#include "engine/advice/log/read_log.h"

namespace vram {

/// Tables with commas, whose head names the columns: nvidia-smi --format=csv, rocm-smi --csv.
void read_device_csv(std::string_view log, LogReading& reading);

}  // namespace vram
