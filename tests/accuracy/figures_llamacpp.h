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

/// What Ollama takes a Llama's graph for where it leaves out its logits: scores, a mask and four hidden states
/// (llm/ggml.go of 0.3.9, GraphSize).
double attention_graph(const Plan& plan);

}  // namespace vram::accuracy
