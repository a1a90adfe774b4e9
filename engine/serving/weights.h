#pragma once

#include <vector>

#include "engine/serving/replica.h"
#include "engine/serving/weight_section.h"
#include "engine/sheet.h"

namespace vram {

struct Format;

/// Elements of one section that are stored and divided alike.
struct WeightParcel {
  WeightSection section;
  double elements;
  double bits;
  double divisor;
};

/// The weights that one GPU of a stage holds. A model without a shape is one block divided over tp * pp.
std::vector<WeightParcel> weight_parcels(const Plan& plan, const Replica& replica, const ServingStage& stage);

/// The stacked routed experts of a layer, tensor by tensor; 0 where there is none.
struct ExpertBytes {
  double gate = 0, up = 0, down = 0;
};
ExpertBytes expert_bytes(const Plan& plan, size_t layer);

/// The largest tensor of a kind in a layer; the output head.
double tensor_bytes(const Plan& plan, size_t layer, Part part);
double head_bytes(const Plan& plan);

/// The largest of the tensors that llama.cpp leaves in host memory of layers on GPUs.
double largest_host_experts_bytes(const Plan& plan);

/// What PyTorch's allocator takes beyond all those weights, as far as the engine's figure counts it.
WeightParcel allocator_rounding(const Plan& plan, const Replica& replica, const ServingStage& stage);

/// The line `weights` of one GPU.
Line weights_line(Sheet& sheet, const std::vector<WeightParcel>& parcels);

/// Bytes of the weights of so many bits that are read for one token of a stage, of experts all: no embedding table.
struct ReadBytes {
  double bits, bytes;
  bool experts;
  bool host_experts;  // of layers on GPUs
  bool draft, head;   // speculative decoding's own layers; the output head
};
std::vector<ReadBytes> weight_bytes_read(const Plan& plan, const Replica& replica, const ServingStage& stage);

/// TensorRT-LLM before 1.0 serves an engine that was built for it, later versions the checkpoint itself.
bool builds_engines(const Plan& plan);

const Format& weights_format(const Plan& plan);
const Format& kv_format(const Plan& plan);
/// Of the named engines only llama.cpp has types for keys and values: vllm, sglang and trtllm one for both.
bool stores_values_apart(const Plan& plan);
/// Of the cached values; of the keys it is kv_format().
const Format& kv_values_format(const Plan& plan);

}  // namespace vram
