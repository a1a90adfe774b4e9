#include "engine/training/overheads.h"

#include <algorithm>
#include <cmath>

#include "engine/hardware/context.h"
#include "engine/sheet.h"
#include "engine/training/bands.h"
#include "engine/training/states.h"

namespace vram {
namespace {

constexpr const char* kShareNote =
    "share of activations, gathered weights and logits, but those that have blocks of their own, in the phase that has "
    "most of them; 15% fitted on 405 measured "
    "reserved and device figures, 12 to 17 when any one source is left out";
constexpr const char* kBlocksNote =
    "blocks of one phase that are of no use to another: gradients, copies of the logits, temporaries of the step";

/// FSDP's and DeepSpeed's flat parameters make temporaries as large as activations are: neither fits into what the
/// other leaves. Tensor by tensor they do.
bool flattens_parameters(const Plan& plan) {
  return plan.framework == Framework::fsdp || plan.framework == Framework::deepspeed;
}

/// What is reserved before any fragmentation.
uint64_t blocks_bytes(const Plan& plan, const Holdings& held) {
  const uint64_t apart = flattens_parameters(plan) ? std::min(held.dynamic, held.step) : 0;
  const uint64_t with_step = held.lasting + std::max(held.dynamic, held.step) + apart;
  return std::max({held.allocated, held.lasting + held.with_blocks, with_step});
}

/// What the line is made of, and the doubt that all allocated bytes add.
struct Parts {
  Factors share, blocks;
  uint64_t cached_band = 0;
};

/// What loading cached serves the step: only what the step reserves beyond it is fragmentation then.
Parts beside_loading(const Holdings& held, const Parts& step) {
  const uint64_t reserved = held.allocated + product(step.share, 0).bytes + product(step.blocks, 0).bytes;
  const uint64_t more = reserved > held.loaded ? reserved - held.loaded : 0;
  return {
      {times("B", 0, "bytes that come and go")}, {times("B", static_cast<double>(more), "bytes")}, step.cached_band};
}

Parts parts_of(const Plan& plan, const Holdings& held) {
  // 0.03: expandable segments; a judgement, no measured figure behind it.
  const bool expandable = plan.allocator == Allocator::expandable;
  const uint64_t blocks = expandable ? 0 : blocks_bytes(plan, held) - held.allocated;
  const Factors allocated = {times("B", static_cast<double>(std::max(held.allocated, held.loaded)), "bytes")};
  Parts step = {{times("B", static_cast<double>(held.scattered), "bytes that come and go"),
                 times("φ", expandable ? 0.03 : 0.15, "share")},
                {times("B", static_cast<double>(blocks), "bytes")},
                product(allocated, kCachedBand).band_bytes};
  if (held.loaded > held.allocated) return beside_loading(held, step);
  return step;
}

bool fits(const Amount& fragmentation, double room) {
  return static_cast<double>(fragmentation.bytes) <= std::max(0.0, room);
}

Factors cache_factors(double room) { return {times("B", std::max(0.0, std::floor(room)), "bytes left")}; }

}  // namespace

Amount fragmentation_amount(const Plan& plan, const Holdings& held, double room) {
  const Parts parts = parts_of(plan, held);
  Amount all = product(parts.share, kFragmentationBand);
  all += product(parts.blocks, kFragmentationBand);
  all.band_bytes += parts.cached_band;
  if (fits(all, room)) return all;
  Amount cache = product(cache_factors(room), 0);
  cache.band_bytes = std::min(all.band_bytes, cache.bytes + parts.cached_band);
  return cache;
}

Line fragmentation_line(Sheet& sheet, const Plan& plan, const Holdings& held, double room) {
  Parts parts = parts_of(plan, held);
  const uint64_t cached_band = parts.cached_band;
  Line share = sheet.leaf("share", "Fragments", std::move(parts.share), kShareNote, kFragmentationBand);
  Line blocks =
      sheet.leaf("blocks", "Blocks that phases do not share", std::move(parts.blocks), kBlocksNote, kFragmentationBand);
  blocks.band_bytes += cached_band;
  Line all = sheet.group("fragmentation", "Fragmentation", {std::move(share), std::move(blocks)});
  if (fits(all, room)) return all;
  Line cache = sheet.leaf("cache", "Cached blocks, as many as there is room for", cache_factors(room),
                          "PyTorch, c10/cuda/CUDACachingAllocator.cpp: before it fails it frees what it caches");
  cache.band_bytes = std::min(all.band_bytes, cache.bytes + cached_band);
  return sheet.group("fragmentation", "Fragmentation", {std::move(cache)});
}

Line context_line(Sheet& sheet, const Plan& plan) {
  if (plan.has(Key::overhead))
    return sheet.leaf("context", "Outside PyTorch", {times("B", plan.overhead, "bytes given")}, "given by `overhead`");
  return sheet.group(
      "context", "CUDA context",
      {sheet.leaf("cuda", "Context", {times("B", context_bytes(*plan.accelerator), "bytes")},
                  "measured before anything is allocated: 0.47 GiB on an A100, 0.70 on a B200, 0.33 on MI300",
                  kOverheadsBand),
       sheet.leaf("libraries", "Kernels of libraries", {times("GiB", 0.5, "GiB"), times("B", kGiB, "bytes")},
                  "modules of cuBLAS, cuDNN, Triton and the framework, loaded when first called; single-GPU "
                  "nvidia-smi figures of A100s leave 0.3 to 0.6 GiB",
                  kOverheadsBand)});
}

}  // namespace vram
