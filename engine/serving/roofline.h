#pragma once

#include "engine/serving/replica.h"

namespace vram {

/// What one GPU of a replica does in a second, for models stored as the plan says.
struct Roofline {
  double weight_bytes = 0;    // of the memory's bandwidth, reading weights of the plan's format
  double flops = 0;           // in products of many tokens
  double link_bytes = 0;      // between the GPUs of a tensor-parallel group
  double reduce_seconds = 0;  // one all-reduce of nothing
};
Roofline roofline(const Plan& plan, const Replica& replica);

/// Share of a memory's bandwidth that reading elements of so many bits reaches.
double bandwidth_share(double bits);

}  // namespace vram
