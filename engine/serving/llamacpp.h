#pragma once

#include <string_view>

#include "engine/model/model.h"

namespace vram {

// What llama.cpp does with an architecture, where that is not what its config.json says.

/// Its tensors hold query, key and value in one (attn_qkv).
bool fuses_qkv(const Architecture& a);

/// Window layers get a cache of their own only where full ones stand beside them: src/llama-model.cpp reads no window
/// of Mistral, Qwen and StarCoder, and switches Phi-3's off.
bool keeps_windows(const Model& model);

/// A build from before the scheduler over several backends (llama.cpp#4766, 2024-01, b1843): its graphs are laid out in
/// one buffer. Versions are dates ("2023-11") or build numbers ("b1500", "1500").
bool precedes_scheduler(std::string_view engine_version);

}  // namespace vram
