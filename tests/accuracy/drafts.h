#pragma once

#include <string>

#include "tests/accuracy/measurement.h"
#include "tests/accuracy/serving_map.h"

namespace vram::accuracy {

/// How many tokens are drafted, and how many of them stand, as the case says it or as is usual.
void set_acceptance(ServingMap& m);

/// Why a figure of a server that drafts cannot be predicted; "" where it can.
std::string unstated_drafts(const ServingMap& m, Figure figure);

}  // namespace vram::accuracy
