#pragma once

#include <cstdint>
#include <string_view>

namespace vram {

/// What was pasted or dropped, by its look: the reader it belongs to says what is wrong with it.
enum class Pasted : uint8_t {
  nothing,  // blank
  share,    // a link, or a share string
  config,   // a model's config.json
  launch,   // a launch command, or a DeepSpeed, torchtitan or accelerate configuration
  log,      // what a program printed: an error, a summary, nvidia-smi
  unknown
};
Pasted recognise(std::string_view text);

}  // namespace vram
