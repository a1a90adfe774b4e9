#pragma once

#include <vector>

#include "tests/accuracy/case_file.h"
#include "tests/accuracy/measurement.h"

namespace vram::accuracy {

/// Every measured number of a start-up log or throughput record (the format of serving.json).
/// `models`: facts about models that are no presets (the format of serving_models.json), or null.
std::vector<Measurement> serving_measurements(const json& c, const json& models);

}  // namespace vram::accuracy
