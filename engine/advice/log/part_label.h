#pragma once

#include "engine/advice/log/text.h"

namespace vram {

/// A part of a server's memory as people write it in their own summaries: "| KV cache | 52 GiB |", "CUDA graphs:
/// 0.6 GiB", "weights 14.9 GiB + KV 52 GiB", "0.94 GiB for KV cache".
struct PartSize {
  const char* what = "";  // "kv_bytes", "kv_tokens"; empty: nothing that the words name for certain
  bool weak = false;      // could be a file's: to be believed where another part stands near
  bool tokens = false;    // a count of tokens, no size
  int64_t value = 0;      // bytes or tokens
  size_t end = 0;
};

/// Of the number at a position. Where a word of its name is not of this small language, nothing is read: a download, a
/// model's card and an estimate have sizes, too.
PartSize scan_part(const LogText& text, size_t at);

/// A cheap look: false where the line around a position has no word of any part.
bool line_names_part(const LogText& text, size_t at);

}  // namespace vram
