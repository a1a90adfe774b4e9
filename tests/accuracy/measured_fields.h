#pragma once

#include <string>

#include "tests/accuracy/case_file.h"

namespace vram::accuracy {

// What a log states of its cache, as measured: under the usual names, else under any of the same words in whatever
// order ("kv_cache_memory_gib", "gpu_kv_cache_size_tokens"). 0: not stated.

/// GiB of the whole pool on a GPU.
double pool_field(const json& c);
/// Tokens that it holds.
double tokens_field(const json& c);
/// Requests of the longest length that it holds.
double concurrency_field(const json& c);
/// Blocks on the GPU, and in host memory.
double blocks_field(const json& c);
double host_blocks_field(const json& c);

}  // namespace vram::accuracy
