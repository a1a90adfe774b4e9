#pragma once

#include <algorithm>
#include <vector>

#include "engine/advice/log/label_words.h"
#include "engine/advice/log/number.h"
#include "engine/advice/log/text.h"

namespace vram {

inline constexpr size_t kMostNameWords = 12;

/// The words before a number, nearest last.
struct Name {
  std::vector<Says> words;
  uint64_t unit_bytes = 0;  // "memory (GB): 4.2"
  bool linked = false;      // by a colon or an equals sign: all of the words are the name

  bool has(Says says) const { return std::find(words.begin(), words.end(), says) != words.end(); }
};

/// Reads the name of the number at a position.
struct NameReader {
  const LogText& text;
  size_t at;

  Name read() const;
  /// Of the line that the clause stands on: "GPU memory: 12.3 GB used, 11.7 GB free".
  bool has_head() const;
  /// "VRAM: total=24.0 GB, used=12.3 GB": a word alone is of the place that the line named.
  void add_place(Name& name) const;
  void add_row_head(Name& name) const;

 private:
  size_t begin() const;
  bool in_bracket(size_t clause) const;
  size_t head_begin(size_t clause) const;
  bool goes_on(size_t i) const;
  bool half_word(size_t begin) const;
  size_t word_end(size_t start) const;
  bool is_value(size_t start, size_t end, const Name& name) const;
  void add(size_t start, size_t end, Name& name) const;
};

/// Of words that stand alone before a size only those at the end that say something; true where that is all of them.
bool keep_known(Name& name);

/// "memory after loading the model"
void cut_time(Name& name);

const char* host_name(Says what, bool peak);
const char* device_name(const Name& name, Says what, bool peak);

/// The figure that a name names, "peak_allocated_bytes"; empty: nothing for certain.
const char* what_of(const Name& name);

}  // namespace vram
