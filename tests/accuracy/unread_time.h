#pragma once

#include <string>

#include "tests/accuracy/load.h"
#include "tests/accuracy/serving_map.h"

namespace vram::accuracy {

/// Why a time, as published, is not what its name says, by what else the case says of the run; "" where it may be.
std::string unread_time(const ServingMap& m, const FigureName& said, const Load& load, double amount);

/// Tokens that are read and written, where the case says that a rate counts both: "x (isl+osl)/osl".
bool counts_both(const json& c, const std::string& name);

}  // namespace vram::accuracy
