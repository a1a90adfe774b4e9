#pragma once

#include "engine/plan/plan.h"
#include "engine/serving/serving.h"
#include "tests/accuracy/measurement.h"

namespace vram::accuracy {

/// What a benchmark of `m.requests`, with as many as `plan.concurrency` under way, prints as that figure.
double benchmark_figure(const Measurement& m, Figure figure, const Plan& plan, const ServingBill& bill);

}  // namespace vram::accuracy
