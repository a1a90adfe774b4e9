#pragma once

#include "engine/advice/launch_flags.h"

namespace vram {

/// The shape that Megatron-LM's flags give, on top of the preset that the tokenizer or a checkpoint's path names.
/// Without --num-layers the plan's model stays.
void read_megatron_model(LaunchReader& reader, GivenFlags& given);
void write_megatron_model(LaunchWriter& writer);

}  // namespace vram
