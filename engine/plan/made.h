#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/plan/plan.h"

namespace vram {

/// What `made` says: the engine that a link was made with, and the figures it gave the reader.
struct Made {
  std::string version;
  std::optional<double> training_gib;  // device memory of the fullest GPU; empty: no bill
  std::optional<double> requests;      // most at a time
  std::string mark;                    // of the plan: a link edited by hand keeps the figures of another one
};

/// "0.1.0,71.5,45.3,9f2c"; a figure may be missing.
std::optional<Made> read_made(std::string_view text);
std::string write_made(const Made& made);

/// Four hexadecimal digits of the share string without view keys.
std::string plan_mark(const Plan& plan);

/// `made`, where the plan is the one that it speaks of.
std::optional<Made> made_of(const Plan& plan);

}  // namespace vram
