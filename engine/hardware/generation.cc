#include "engine/hardware/generation.h"

#include <string_view>

namespace vram {

bool precedes_ampere(const Accelerator& gpu) {
  const std::string_view family = gpu.family;
  return family == "NVIDIA Turing" || family == "NVIDIA Volta";
}

}  // namespace vram
