#pragma once

#include "engine/advice/log/row.h"

// One array a file; `log_families` lists them all.
namespace vram {

std::span<const LogFamily> torch_families();
std::span<const LogFamily> device_families();
std::span<const LogFamily> training_families();
std::span<const LogFamily> vllm_families();
std::span<const LogFamily> server_families();
std::span<const LogFamily> llamacpp_families();
std::span<const LogFamily> compiler_families();
std::span<const LogFamily> host_families();

}  // namespace vram
