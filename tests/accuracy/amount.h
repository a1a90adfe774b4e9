#pragma once

#include <string>

namespace vram::accuracy {

/// An amount in the unit its source prints: bytes in GiB, GB ...; others as they are.
std::string amount(double value, const std::string& unit);

}  // namespace vram::accuracy
