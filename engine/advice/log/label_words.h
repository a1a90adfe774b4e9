#pragma once

#include <cstdint>

#include "engine/advice/log/text.h"

namespace vram {

/// What a word says of a size.
enum class Says : uint8_t {
  nothing,
  memory,
  device,
  device_memory,
  host,
  rss,
  ram,  // of the host, where no device is named
  peak,
  present,
  allocated,
  reserved,
  cached,
  active,
  used,
  free,
  total,
  link,     // between a name and its size
  when,     // what is behind says only when
  purpose,  // so does this, but behind a size without a label: "allocated 3 GiB for the KV cache"
  other,    // of something else
  apart,    // no size of what is held: an estimate, a limit, a difference
};

/// A GPU's memory or the host's.
bool is_place(Says says);

bool is_other(Says says);

/// Of the letters from `start` to `end` of a log.
Says meaning(const LogText& text, size_t start, size_t end);

}  // namespace vram
