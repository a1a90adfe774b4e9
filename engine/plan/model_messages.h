#pragma once

#include <vector>

#include "engine/plan/plan.h"

namespace vram {

/// What is to be said about the model and the GPU of a resolved plan: unknown ids, impossible or missing fields.
void add_model_messages(const Plan& plan, std::vector<Message>& messages);

}  // namespace vram
