#pragma once

#include "engine/serving/serving.h"

namespace vram {

/// The whiteboard: parameters x nominal bytes, a quarter of that in reserve, the rest divided by one request.
ServingNapkin serving_napkin(const Plan& plan);

}  // namespace vram
