#pragma once

#include <vector>

#include "tests/accuracy/serving_map.h"

namespace vram::accuracy {

/// What a log of llama.cpp, its forks or Ollama says of how it was started.
void set_llamacpp(ServingMap& m);

/// Requests that its server works on at a time, whose others wait: as it was told, or Ollama's one (ollama#11330). 0:
/// not known.
double slots_of_server(const json& c);

/// So many layers on the GPU. Builds that move the output layer first count it as one of those.
void set_repeating(ServingMap& m, double layers);

/// A check of such a log: the words of its name, in whatever order, say what it is of and where it lies.
void add_llamacpp_check(const ServingMap& m, const json& check, std::vector<Measurement>& out);

}  // namespace vram::accuracy
