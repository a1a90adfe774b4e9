#pragma once

#include <string>

#include "engine/advice/launch_flags.h"

namespace vram {

/// Who shards the states of a transformers run: DeepSpeed (its JSON, or accelerate's flags), FSDP through accelerate or
/// through --fsdp, or nobody.
void read_sharding(LaunchReader& reader, GivenFlags& given);
/// Precision of gradients, optimizer and tensor parallelism that a DeepSpeed file says.
void read_state_files(LaunchReader& reader, GivenFlags& given);

/// "accelerate launch ... " or "torchrun ...": what stands before the training script.
std::string write_training_launcher(LaunchWriter& writer);
/// The JSON of a plan with framework=deepspeed.
std::string write_deepspeed_file(LaunchWriter& writer, double accumulation);

/// Micro-batches of a step on each rank as these launchers count ranks; 1 where the global batch does not divide.
double transformers_accumulation(const Plan& plan);

}  // namespace vram
