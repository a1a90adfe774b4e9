#pragma once

#include <span>
#include <string>

#include "engine/advice/launch_flags.h"

namespace vram {

/// A program whose flags are read and written: its table, and what takes more than a row.
struct Dialect {
  const char* program;  // "vLLM"
  std::span<const FlagRow> rows;
  void (*read)(LaunchReader&, GivenFlags&);  // beside the table; the plan is resolved behind it
  void (*write)(LaunchWriter&);              // beside the table
  char between_words = '-';
};

extern const Dialect kVllm, kSglang, kTrtllm, kLlamacpp, kOllama;
extern const Dialect kMegatron, kTransformers, kAccelerate, kTorchtitan;

/// Programs that start others: how many GPUs. Names without a value of their own (bash variables) are said.
void read_gpu_count(LaunchReader& reader, GivenFlags& given);
/// "--nnodes 8 --nproc_per_node 8" with the launcher's own names for nodes and GPUs a node.
void write_gpu_count(LaunchWriter& writer, std::string_view nodes, std::string_view per_node);

/// A replica's GPUs from its parallel sizes, once they are set.
void read_replica(LaunchReader& reader);

/// Sequences a step from micro-batch and accumulation, once the parallel sizes are known.
void read_accumulation(LaunchReader& reader, double micro_batch, double accumulation);
/// Micro-batches of a step on each rank: 1 where the global batch does not divide.
double accumulation_of(const Plan& plan);
/// Tokens of a run of that many steps, and back.
void read_steps(LaunchReader& reader, double steps);
double steps_of(const Plan& plan);

}  // namespace vram
