#pragma once

#include "engine/plan/plan.h"

namespace vram {

/// Figures that were measured belong to the plan as it then was: `measured_with` holds what has been changed since.
bool is_measured(const Plan& plan);

/// The plan as it was when measured.
Plan plan_when_measured(const Plan& plan);

/// `changed` was made from `before`: notes in `measured_with` what differs, where figures were measured. Figures that
/// are new are of the changed plan.
void keep_measured_with(const Plan& before, Plan& changed);

}  // namespace vram
