#pragma once

#include <vector>

#include "engine/advice/log/text.h"

namespace vram {

/// The lines that begin with a time, a level, a process, a container's name or the sign of a quotation.
std::vector<LinePrefix> find_prefixes(const LogText& text);

}  // namespace vram
