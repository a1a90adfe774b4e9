#pragma once

#include "engine/advice/log/read_log.h"
#include "engine/advice/log/text.h"

namespace vram {

/// Markdown's tables: a size is what the heads of its column and of its row say.
void read_head_tables(const LogText& text, LogReading& reading);

}  // namespace vram
