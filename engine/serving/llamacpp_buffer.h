#pragma once

#include "engine/serving/replica.h"
#include "engine/sheet.h"

namespace vram {

/// The buffer that llama.cpp computes in, on one GPU.
Line llamacpp_compute_line(Sheet& sheet, const Plan& plan, const Replica& replica, const ServingStage& stage);

/// ... and on the host, whatever is offloaded.
Line host_compute_line(Sheet& sheet, const Plan& plan);

/// Where the host finds the logits of each slot's last token.
Line llamacpp_output_line(Sheet& sheet, const Plan& plan);

/// GPUs that take turns hold four copies of what enters a graph, mask and hidden state, and so does the host of the
/// masks (ggml-backend.cpp, GGML_SCHED_MAX_COPIES; llama.cpp#6017, b2400), and work on as many micro-batches; not where
/// tensors are overridden (llama-context.cpp, pipeline_parallel).
bool copies_inputs(const Plan& plan, const Replica& replica);

}  // namespace vram
