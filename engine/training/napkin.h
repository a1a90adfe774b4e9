#pragma once

#include "engine/training/training.h"

namespace vram {

/// The whiteboard's figure: one whole copy of the model and one micro-batch, never divided.
TrainingNapkin training_napkin(const Plan& plan);

}  // namespace vram
