#pragma once

#include <cstdint>
#include <vector>

#include "engine/serving/replica.h"

namespace vram {

/// Layers whose cache grows alike. `layers` of one GPU's stage.
struct CacheGroup {
  const char* id = "";  // "full", "sliding", "state" ...
  const char* label = "";
  double layers = 0;
  double allocated_layers = 0;  // with the padding that vllm's equal groups need
  double heads = 0;             // KV heads; 1 for a latent
  double head_elements = 0;     // K and V of one head; latent + rotary
  double bits = 16;
  double divisor = 1;      // GPUs that share a token's elements
  double window = 0;       // 0: keeps every token
  double state_bytes = 0;  // a layer and sequence, whatever its length
  bool latent = false;
  bool indexer = false;  // keys of sparse attention, beside the cache of their layers

  double bits_per_token() const { return heads * head_elements * bits / divisor; }  // of one layer on one GPU
};

std::vector<CacheGroup> cache_groups(const Plan& plan, const Replica& replica, const ServingStage& stage);
/// What a step reads of it: trtllm's kernels keep to the window of a layer that keeps every token.
std::vector<CacheGroup> read_groups(const Plan& plan, const Replica& replica, const ServingStage& stage);

/// Does the engine free what has left a layer's window?
bool frees_windows(const Plan& plan);
/// vllm cuts the layers of a hybrid model into groups of equal size (v1/core/kv_cache_utils.py,
/// _get_kv_cache_groups_uniform_page_size). 0: all layers are alike.
double group_layers(const Plan& plan, const std::vector<CacheGroup>& groups);

/// Bytes one more token costs on that GPU: inside every window, or beyond all of them. Rounded up once.
uint64_t token_bytes(const std::vector<CacheGroup>& groups, bool beyond_windows);

}  // namespace vram
