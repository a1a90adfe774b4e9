#pragma once

#include "engine/advice/log/read_log.h"
#include "engine/advice/log/text.h"

namespace vram {

/// The table of procps' `free` without units; with them it is a row like any other.
void read_free_tables(const LogText& text, LogReading& reading);

}  // namespace vram
