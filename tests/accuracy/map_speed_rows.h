#pragma once

#include <string>
#include <vector>

#include "tests/accuracy/load.h"
#include "tests/accuracy/measurement.h"
#include "tests/accuracy/serving_map.h"

namespace vram::accuracy {

/// The plan under that load.
ServingMap at_load(const ServingMap& m, const Load& load);

/// A row of a table of TensorRT-LLM's performance overview, named by its columns: "llama-3.3-70b TP2 H100 fp8" at
/// maximum load, "BS64 TP1 2048/128" of one batch. False where the name is none.
bool add_row(const ServingMap& m, const std::string& name, double measured, std::vector<Measurement>& out);

}  // namespace vram::accuracy
