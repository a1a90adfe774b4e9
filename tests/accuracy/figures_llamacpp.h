#pragma once

#include <string>

#include "engine/plan/plan.h"

namespace vram::accuracy {

/// Bytes of the caches that a part names: "whole", "gpu", "host", "device 1/3", and behind that "full", "sliding",
/// "draft", "indexer", "keys" or "values". Keys of the indexer and the draft's are caches of their own.
double cache_bytes(const Plan& plan, const std::string& part);

/// Recurrent states: a place, and "scan" or "convolution".
double state_bytes(const Plan& plan, const std::string& part);

/// Weights of "device 1/3"; of "layers", those that repeat.
double layer_weight_bytes(const Plan& plan, const std::string& part);

/// What Ollama takes a file's graph for before it loads it (llm/ggml.go, GraphSize, 0.3.9 and 0.5.7): the larger of
/// scores, a mask and hidden states, and of logits where they are looked at.
double graph_estimate(const Plan& plan, bool logits);

}  // namespace vram::accuracy
