#pragma once

#include "engine/compute/compute.h"
#include "engine/serving/serving.h"
#include "engine/training/training.h"

namespace vram {

// Above 2^53 bytes a bill is no longer exact in every JSON reader: it is refused by the name of its line, and the plan
// is invalid. A napkin figure above that is left out.
void refuse_too_large(TrainingBill& bill);
void refuse_too_large(ServingBill& bill);

/// Names the key of the plan that makes a bill too large: the first given one without which it is not.
void name_the_key(const Plan& plan, TrainingBill& bill);
void name_the_key(const Plan& plan, ServingBill& bill);

/// Of an impossible training plan: what depends on no layout.
void leave_out_steps(ComputeFigures& compute);

/// Traffic above 2^53 bytes a step is left out.
void leave_out_too_large(ComputeFigures& compute);

}  // namespace vram
