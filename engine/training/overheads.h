#pragma once

#include "engine/sheet.h"
#include "engine/training/pipeline.h"

namespace vram {

/// What a stage holds in blocks of PyTorch's caching allocator, bytes.
struct Holdings {
  uint64_t loaded = 0;       // before the step
  uint64_t allocated = 0;    // in the fullest phase of the step
  uint64_t lasting = 0;      // weights, gradients, optimizer, adapters, buffers: each at its most
  uint64_t dynamic = 0;      // most of activations, logits and gathered weights together
  uint64_t scattered = 0;    // of those what fragments: copies of the logits with blocks of their own do not
  uint64_t with_blocks = 0;  // the same where every copy of the logits has a block of its own
  uint64_t step = 0;         // temporaries of gradient reduction and of the optimizer
};

/// What the allocator reserves beyond what is allocated in the fullest phase: a share of what comes and goes, and
/// blocks that phases do not share; no more than `room` bytes, because it gives cached blocks back before it fails.
Line fragmentation_line(Sheet& sheet, const Plan& plan, const Holdings& held, double room);
/// What that line comes to without being made.
Amount fragmentation_amount(const Plan& plan, const Holdings& held, double room);

/// What a process takes of the device besides PyTorch's allocator; `overhead` replaces it and communication.
Line context_line(Sheet& sheet, const Plan& plan);

/// Communicators: one for each parallel group that the rank is in.
Line communication_line(Sheet& sheet, const Plan& plan, const Stage& stage);

}  // namespace vram
