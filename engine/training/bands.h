#pragma once

namespace vram {

/// Half-width of the error band of each kind of line, a share of the line. Of the values that hold nine in ten of 356
/// measured figures (steady, allocated, reserved, device; sources weighted alike) the narrowest are 4, 8, 10, 40, 70
/// and 90%; fitted without one of seven sources in turn, they hold 89% of the figures of the sources left out. These
/// are a little wider, since sources differ.
inline constexpr double kStatesBand = 0.06;  // weights, gradients, optimizer, adapters
inline constexpr double kActivationsBand = 0.08;
inline constexpr double kLogitsBand = 0.25;
inline constexpr double kBuffersBand = 0.5;  // gathered weights and buffers
inline constexpr double kFragmentationBand = 0.8;
inline constexpr double kOverheadsBand = 0.9;  // context, communication

}  // namespace vram
