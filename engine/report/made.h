#pragma once

#include <string>

#include "engine/report/report.h"

namespace vram {

/// The value of `made` for a link to this report's plan; "" where there is no answer.
std::string made_here(const Report& report);

/// The plan's share string, as it is written into an address, with `made`.
std::string share_to_give(const Report& report);

/// Adds a message where the plan's link says other figures than this engine, beyond their last digit.
void note_changed_figures(Report& report);

}  // namespace vram
