#pragma once

#include <cstdint>
#include <string_view>

#include "engine/advice/log/text.h"

namespace vram {

/// What a word says of a part.
enum class PartWord : uint8_t {
  unknown,
  filler,  // of any part
  link,    // between a name and its size; "for", "of"
  space,   // memory, VRAM: no file
  weights,
  model,
  kv,
  cache,
  pool,
  cuda,
  graph,
  activation,
  non,
  torch,
  compute,
  buffer,
  budget,
  room,  // free for
  usage,
};

/// The words of a name, as marks in a set.
struct PartName {
  uint32_t words = 0;
  int count = 0;         // of the words that name a part
  bool spoiled = false;  // a word stands there that is not of the language, or speaks of something else

  bool has(PartWord word) const { return (words >> static_cast<int>(word) & 1) != 0; }
  void add(PartWord word) {
    words |= uint32_t{1} << static_cast<int>(word);
    count += word != PartWord::filler && word != PartWord::link && word != PartWord::space;
  }
};

constexpr size_t kLongestPartWord = 16;  // letters of a word of the language

/// A word in lower case, in `letters`; "" where it is too long to be known.
std::string_view lower_word(const LogText& text, size_t start, size_t end, char (&letters)[kLongestPartWord]);

bool is_sign(char c);

/// The small language in which people name the parts of a server's memory.
struct PartWords {
  const LogText& text;

  size_t word_end(size_t start, size_t limit) const;
  /// "disk", "download", "estimated", "CPU".
  bool is_of_else(size_t start, size_t end) const;
  void add(size_t start, size_t end, PartName& name) const;
  /// Behind a bracket that is closed before `limit`; what stands in it may speak of something else.
  size_t skip_bracket(size_t open, size_t limit, PartName& name) const;
  /// Of what stands from `begin` to `end`; behind a colon the name begins anew, what stood before may spoil it.
  PartName read(size_t begin, size_t end) const;
};

}  // namespace vram
