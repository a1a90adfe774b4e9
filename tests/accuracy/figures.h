#pragma once

#include "engine/report/report.h"
#include "tests/accuracy/measurement.h"

namespace vram::accuracy {

/// Fills in `estimate` and `band`: which sum of lines answers which figure is written down here, once.
void answer(Measurement& measurement);

}  // namespace vram::accuracy
