#pragma once

#include "engine/serving/replica.h"
#include "engine/sheet.h"

namespace vram {

/// A line of 0 B.
inline Line nothing(Sheet& sheet, const char* id, const char* label) {
  return sheet.leaf(id, label, {times("", 0, "B")});
}

/// What a GPU holds beside weights and KV cache.
struct RuntimeLines {
  Line activations, graphs, buffers, context;
  uint64_t bytes() const { return activations.bytes + graphs.bytes + buffers.bytes + context.bytes; }
};
RuntimeLines runtime_lines(Sheet& sheet, const Plan& plan, const Replica& replica, const ServingStage& stage);

}  // namespace vram
