#pragma once

#include <vector>

#include "engine/serving/replica.h"
#include "engine/sheet.h"

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

/// Bytes one more token costs on that GPU: inside every window, or beyond all of them. Rounded up once.
uint64_t token_bytes(const std::vector<CacheGroup>& groups, bool beyond_windows);

/// Tokens of a KV block: the plan's, raised by vllm until a page of attention holds a page of state.
double block_tokens(const Plan& plan, const std::vector<CacheGroup>& groups);

/// What vllm printed as its tokens before 0.21: those that one of its equal groups of layers has blocks for. 0: all
/// layers are alike.
double tokens_of_one_group(const Plan& plan, const std::vector<CacheGroup>& groups, double bytes);

/// Cells of llama.cpp's cache that one token may look at: all of a unified one.
double llamacpp_cells(const Plan& plan);
/// Cells of llama.cpp's window layers that one token may look at; 0 where they have no cache of their own.
double llamacpp_window_cells(const Plan& plan);

/// Tokens of a request of `tokens` that a group keeps, in whole blocks.
double tokens_kept(const Plan& plan, const CacheGroup& group, double tokens, double block);

/// Bytes of one request: what grows with its tokens, and states.
struct RequestBytes {
  double tokens = 0, states = 0;
  double all() const { return tokens + states; }
};

/// Of a request of `tokens` of which the first `shared` lie in the pool once for all.
RequestBytes request_bytes(const Plan& plan, const std::vector<CacheGroup>& groups, double tokens, double shared = 0);

/// The same for `requests` of them, as lines.
LineList request_lines(Sheet& sheet, const Plan& plan, const std::vector<CacheGroup>& groups, double requests,
                       double tokens, double shared = 0);

/// What n requests of the plan's population take on one GPU: fixed + n * each.
struct CacheDemand {
  double fixed = 0;            // the shared prefix; llama.cpp's micro-batch beyond a window
  RequestBytes each;           // mean over both populations
  RequestBytes brief, longer;  // of either alone; of one population both are `each`
};
CacheDemand cache_demand(const Plan& plan, const std::vector<CacheGroup>& groups);

/// The lines of `requests` requests of the population: what the demand's bytes come from.
Line demand_line(Sheet& sheet, const Plan& plan, const std::vector<CacheGroup>& groups, double requests);

}  // namespace vram
