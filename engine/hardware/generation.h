#pragma once

#include "engine/hardware/accelerator.h"

namespace vram {

/// NVIDIA's generations before compute capability 8.0, which much of today's software leaves out.
bool precedes_ampere(const Accelerator& gpu);

/// NVIDIA's graphics boards and those made of them from Ada on (RTX 4090, L40S, RTX PRO 6000), not Hopper and B200.
bool is_board_since_ada(const Accelerator& gpu);

/// A100, A800 and A30: the one Ampere chip with HBM, half the lanes of the others' multiprocessors and clocks of 1.4
/// GHz.
bool is_ga100(const Accelerator& gpu);

}  // namespace vram
