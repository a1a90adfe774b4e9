#pragma once

#include <string>

#include "tests/accuracy/share.h"

namespace vram::accuracy {

/// The keys of a model that is no preset and has the shape of one ("vicuna-7b" is a Llama 2), in `share`; false where
/// the name says nothing of the kind. The longest name of the table that stands in the text counts.
bool set_kin(Share& share, const std::string& name);

/// The name of a model whose points were left out: "qwen2.5-1.5b" of "qwen25-15b"; "" where there is none.
std::string spelled(const std::string& name);

/// The config.json of a model that is no preset and has no kin among them; "" where none is kept.
std::string published_config(const std::string& name);

/// The billions that a name states: 7 of "Qwen2.5-7B", 0 of "Mixtral-8x7B", "gemma-4-E4B" and "30B-A3B"'s second.
double stated_billions(const std::string& name);

}  // namespace vram::accuracy
