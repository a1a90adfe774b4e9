#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/compute/compute.h"
#include "engine/serving/serving.h"
#include "engine/training/training.h"

namespace vram {

enum class Severity : uint8_t { error, warning, info };

/// Something a reader should know: what does not fit, by how much, and what would change it.
struct Finding {
  Severity severity = Severity::info;
  const char* id = "";  // "training_exceeds", "recompute_selective" ...
  std::string text;
  std::string change;  // share-string fragment that applies it, "recompute=selective"; "" = nothing to apply
  std::optional<uint64_t> saves_bytes;
  std::optional<double> time_ratio, usd;
  const char* quality = "";  // what it costs in quality, "" = nothing
};

/// Without `remedies`: what would make the plan fit is left out, which takes longer than all the rest.
std::vector<Finding> findings(const Plan& plan, const TrainingBill& training, const ComputeFigures& compute,
                              const ServingBill& serving, bool remedies = true);

}  // namespace vram
