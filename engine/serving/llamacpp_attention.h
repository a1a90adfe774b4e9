#pragma once

#include "engine/plan/plan.h"
#include "engine/serving/llamacpp.h"

namespace vram {

/// Does a released build work flash attention out on this GPU, with the types of this cache? Else the processor does.
bool llamacpp_attends_on_gpu(const Plan& plan);

/// Of a layer with so many cells, what stands beside its result: CUDA's flash attention reads caches of other types in
/// fp16, all of them at once.
double llamacpp_converted_bytes(const Plan& plan, const LlamacppBuild& build, const Attention& attention, double cells);

}  // namespace vram
