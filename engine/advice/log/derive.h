#pragma once

#include "engine/advice/log/read_log.h"

namespace vram {

/// Adds what follows from the figures of a log by arithmetic alone: tokens from blocks, capacity from a share of it,
/// how many messages or GPUs there are. Each is marked as derived.
void derive_figures(LogReading& reading);

}  // namespace vram
