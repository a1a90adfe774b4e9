#pragma once

namespace vram {

/// Half-width of the error band of each kind of line, a share of the line. Of the values that hold nine in ten of 584
/// measured figures (steady; allocated; reserved and device, each by itself; sources weighted alike) the narrowest are
/// 2.5, 4 (all k-bit bases), 8, 25, 40, 50, 6 and 60%; fitted without one of nine sources in turn, they hold 87% of the
/// figures of the sources left out. Logits, fragments and what is cached trade with each other: values between are as
/// narrow.
inline constexpr double kStatesBand = 0.025;    // weights, gradients, optimizer, adapters
inline constexpr double kQuantisedBand = 0.05;  // weights of GPTQ and AWQ: groups differ by checkpoint
inline constexpr double kActivationsBand = 0.08;
inline constexpr double kExpertsBand = 0.15;  // of experts: who dispatches keeps copies, or not, by its version
inline constexpr double kLogitsBand = 0.2;
inline constexpr double kBuffersBand = 0.4;  // gathered weights and buffers
inline constexpr double kFragmentationBand = 0.3;
inline constexpr double kCachedBand = 0.07;    // of all that is allocated: what the allocator keeps besides it, or not
inline constexpr double kOverheadsBand = 0.6;  // context, communication

}  // namespace vram
