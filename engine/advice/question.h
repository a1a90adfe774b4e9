#pragma once

#include <vector>

#include "engine/plan/plan.h"

namespace vram {

/// Is the question about serving? By its word, by `view`, else by what the plan gives.
bool asks_about_serving(const Plan& plan);

/// The question without the side it is put to: serve-fastest is fastest.
Question without_side(Question question);

/// The plan on each of `gpus_among` (where none is given, on its own GPU), without what is asked. What was given beside
/// the plan's own GPU stays with that one.
std::vector<Plan> kinds_among(const Plan& plan);

/// What the question needs and the plan does not say.
std::vector<Message> question_messages(const Plan& plan);

/// Numbers of GPUs to try, ascending: parts of a node, then whole nodes, four steps to a doubling, up to 65,536 GPUs.
std::vector<double> gpu_counts(const Plan& plan);

}  // namespace vram
