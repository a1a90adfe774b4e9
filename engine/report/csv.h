#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vram {

/// Cells joined by commas and a line break, quoted where they need it (RFC 4180).
std::string csv_row(const std::vector<std::string>& cells);

}  // namespace vram
