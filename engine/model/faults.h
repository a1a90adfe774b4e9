#pragma once

#include <string>
#include <vector>

#include "engine/model/model.h"

namespace vram {

/// What is known of an architecture.
struct Completeness {
  bool layers = false;    // how many, and of which kinds
  bool kv_shape = false;  // and the heads of each
  bool shape = false;     // everything: all matrices can be listed
};

/// Says what is impossible about an architecture, and how complete it is.
Completeness check_architecture(const Architecture& a, std::vector<ModelFault>* faults);

/// "4096", "1.5", without trailing zeros.
std::string plain_number(double value);

}  // namespace vram
