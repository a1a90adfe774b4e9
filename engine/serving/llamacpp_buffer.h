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

}  // namespace vram
