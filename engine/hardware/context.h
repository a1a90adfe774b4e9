#pragma once

#include "engine/hardware/accelerator.h"
#include "engine/units.h"

namespace vram {

/// What a process takes of a device before it allocates anything: context and modules. Measured, total − free at start
/// of vllm's logs: 0.49 to 0.51 GiB on NVIDIA cards of 24 to 40 GB, 0.70 on B200, 0.33 on MI300; 0.47 on an A100
/// (stas00/ml-engineering, PyTorch 2.1).
inline double context_bytes(const Accelerator& gpu) {
  if (gpu.vendor == "AMD") return 0.3125 * kGiB;
  const bool large_die = gpu.family == "NVIDIA Blackwell" && gpu.marketed_bytes > 150 * kGB;
  return (large_die ? 0.75 : 0.5) * kGiB;
}

}  // namespace vram
