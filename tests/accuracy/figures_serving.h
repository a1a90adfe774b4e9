#pragma once

#include "engine/report/report.h"
#include "tests/accuracy/bill_sums.h"
#include "tests/accuracy/measurement.h"

namespace vram::accuracy {

/// What of the serving bill a figure is.
Amount serving_amount(const Report& r, const Measurement& m);

}  // namespace vram::accuracy
