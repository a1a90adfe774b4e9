#pragma once

#include "engine/advice/log/row.h"

// One array a file; `log_families` lists them all.
namespace vram {

std::span<const Family> torch_families();
std::span<const Family> device_families();
std::span<const Family> training_families();
std::span<const Family> vllm_families();
std::span<const Family> server_families();
std::span<const Family> llamacpp_families();
std::span<const Family> compiler_families();
std::span<const Family> host_families();

}  // namespace vram
