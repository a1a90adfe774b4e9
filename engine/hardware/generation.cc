#include "engine/hardware/generation.h"

#include <string_view>

namespace vram {

bool precedes_ampere(const Accelerator& gpu) {
  const std::string_view family = gpu.family;
  return family == "NVIDIA Turing" || family == "NVIDIA Volta";
}

bool is_board_since_ada(const Accelerator& gpu) {
  const bool board = gpu.vendor == "NVIDIA" && gpu.link_is_pcie && !gpu.unified_memory;
  return board && gpu.fp8_tflops > 0 && gpu.family != "NVIDIA Hopper";
}

bool is_ga100(const Accelerator& gpu) { return gpu.family == "NVIDIA Ampere" && gpu.bandwidth_gb_s > 900; }

}  // namespace vram
