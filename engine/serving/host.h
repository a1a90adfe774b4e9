#pragma once

#include <vector>

#include "engine/serving/capacity.h"

namespace vram {

/// What a replica keeps in host memory: llama.cpp's embedding table and the layers that are not on a GPU, and swap.
LineList host_lines(Sheet& sheet, const Plan& plan);

/// Whole requests of the population that wait in swap, all GPUs' together; 0 without swap.
double swapped_requests(const Plan& plan, const Replica& replica, const StageCapacity& stage);

/// Host memory of the nodes that a replica's GPUs stand in; 0 where it is not known.
double host_memory_bytes(const Plan& plan);

}  // namespace vram
