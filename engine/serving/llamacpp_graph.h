#pragma once

#include <vector>

#include "engine/serving/ggml_alloc.h"
#include "engine/serving/llamacpp.h"
#include "engine/serving/replica.h"

namespace vram {

/// What llama.cpp reserves to compute on each GPU, and at the end on the host: its own graph of a micro-batch, laid out
/// by its own allocator. Empty for models whose graph is not written down here.
std::vector<GgmlBuffer> llamacpp_buffers(const Plan& plan, const LlamacppBuild& build, const Replica& replica,
                                         int copies);

}  // namespace vram
