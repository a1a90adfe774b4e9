#pragma once

#include "engine/hardware/accelerator.h"

namespace vram {

/// NVIDIA's generations before compute capability 8.0, which much of today's software leaves out.
bool precedes_ampere(const Accelerator& gpu);

}  // namespace vram
