#pragma once

namespace vram {

/// Half-width of the error band of each kind of line, a share of the line. Of the values that hold 85 in a hundred of
/// 699 measured figures (allocated, reserved and device; a source weighs as the root of its figures) the narrowest are
/// 3.5, 5, 20, 40, 20, 9 and 60%; fitted without one of nineteen sources in turn, they hold 84% of the figures of the
/// sources left out. Activations come out at 5 or, without fms-acceleration, 10, what is gathered at 40 or 50.
inline constexpr double kStatesBand = 0.025;    // weights, gradients, optimizer, adapters
inline constexpr double kQuantisedBand = 0.05;  // weights of GPTQ and AWQ: groups differ by checkpoint
inline constexpr double kActivationsBand = 0.07;
inline constexpr double kExpertsBand = 0.15;  // of experts: who dispatches keeps copies, or not, by its version
inline constexpr double kLogitsBand = 0.2;
inline constexpr double kBuffersBand = 0.5;  // gathered weights and buffers
inline constexpr double kFragmentationBand = 0.2;
inline constexpr double kCachedBand = 0.09;    // of all that is allocated: what the allocator keeps besides it, or not
inline constexpr double kOverheadsBand = 0.6;  // context, communication

}  // namespace vram
