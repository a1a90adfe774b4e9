#pragma once

#include "engine/advice/log/read_log.h"
#include "engine/advice/log/text.h"

namespace vram {

/// The table of Slurm's `sacct`: the sizes of a line, where each column that holds sizes has one.
void read_slurm_tables(const LogText& text, LogReading& reading);

}  // namespace vram
