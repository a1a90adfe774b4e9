#pragma once

#include <string>
#include <vector>

#include "tests/accuracy/serving_map.h"

namespace vram::accuracy {

/// Of recurrent and convolution states, as the name of a check says.
bool is_of_states(const std::string& name);

/// Recurrent states of so many slots; sglang has one more to write to where none is meant (memory_pool.py, MambaPool).
void add_states(const ServingMap& m, const json& check, std::vector<Measurement>& out);

/// How many states sglang's pool has room for, beside the one that nobody owns.
void add_state_slots(const ServingMap& m, const json& check, std::vector<Measurement>& out);

}  // namespace vram::accuracy
