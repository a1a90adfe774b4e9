#include "engine/training/loading.h"

#include <algorithm>
#include <cmath>

#include "engine/training/storage.h"

namespace vram {
namespace {

/// transformers reads a model into the memory of its process (modeling_utils.py, from_pretrained without device_map), a
/// k-bit one onto the GPU weight by weight; under zero.Init a rank keeps its share of each weight.
bool reads_whole_model(const Plan& plan) {
  const bool partitions = plan.framework == Framework::deepspeed && plan.zero >= 3 && !plan.load_whole;
  const bool k_bit = !trains_all(plan) && frozen_linear_bits(plan) < 16;
  return plan.library == Library::hf && !partitions && !k_bit;
}

/// accelerate has FSDP's first rank read it for all (fsdp_cpu_ram_efficient_loading, on unless asked not to); elsewhere
/// every process does.
double copies_of_a_node(const Plan& plan) {
  const bool first_rank = plan.framework == Framework::fsdp || plan.framework == Framework::fsdp2;
  return first_rank ? 1 : std::min(plan.node, plan.gpus);
}

}  // namespace

std::optional<uint64_t> loading_host_bytes_per_node(const Plan& plan) {
  if (!reads_whole_model(plan)) return std::nullopt;
  const double bits = trains_all(plan) ? storage_of(plan).weight : frozen_other_bits(plan);
  return static_cast<uint64_t>(std::ceil(copies_of_a_node(plan) * plan.subject->nominal_parameters * bits / 8));
}

}  // namespace vram
