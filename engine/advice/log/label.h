#pragma once

#include <string>

#include "engine/advice/log/text.h"

namespace vram {

/// A size that somebody's own print names in words: "Max CUDA memory after loading: 4.2 GB", "peak_mem_gb=4.2",
/// "GPU memory: 4.2 GB allocated".
struct LabelledSize {
  std::string what;  // "peak_allocated_bytes"; empty: nothing that the words name for certain
  int64_t bytes = 0;
  size_t end = 0;
  std::string of_what;  // "total_bytes" of "GPU0: 45.2/79.3GB"; empty: no second size
  int64_t of_bytes = 0;
};

/// Of the number at a position.
LabelledSize scan_labelled(const LogText& text, size_t at);

}  // namespace vram
