#pragma once

#include <string>

namespace vram::accuracy {

/// A card that is no preset, by its maker's figures.
struct CardKin {
  const char* said;    // its name, compact()
  const char* preset;  // whose drivers and engines treat it as they do this one; "custom" where none is its kin
  double gb, bandwidth, tflops, watts;  // marketed; GB/s; dense, 16 bit accumulated in 32 bit
};

/// The card of the longest name within `given`; null where there is none.
const CardKin* card_kin(const std::string& given);

}  // namespace vram::accuracy
