#pragma once

#include "engine/report/report.h"
#include "tests/accuracy/bill_sums.h"
#include "tests/accuracy/measurement.h"

namespace vram::accuracy {

/// What a GPU of the stage that was read holds.
Amount training_amount(const Report& r, const Measurement& m);
/// A token's share of the activations line of a one-layer plan, or of the named part of it.
Amount saved_amount(const Report& r, const Measurement& m);
/// 1 where the bill's verdict agrees that the job ran, or that it ran out of memory.
Amount verdict_amount(const Report& r, const Measurement& m);
/// Speeds, hours and FLOPs of a training job.
Amount compute_amount(const Report& r, const Measurement& m);

}  // namespace vram::accuracy
