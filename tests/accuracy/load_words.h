#pragma once

#include <string>
#include <vector>

namespace vram::accuracy {

/// What a word of a field or of a figure's name is about.
enum class Topic : uint8_t {
  none,
  prompt,  // lengths, and with a rate: which tokens
  depth,   // tokens in the cache before a test of llama-bench
  output,
  clients,
  requests,
  rate,
  slots,
  micro_batch,
  gpus,
  prefill,  // the prompt as its own pass
  decode,   // the output as its own passes
  total,
  token,
  ttft,
  tpot,
  latency,
  run,  // a benchmark from its first request to its last
  second,
  millisecond,
  microsecond,
  tokens_a_second,
  requests_a_second,
  first,
  between,
  per,
  stream,
  length,
  most,
  median,
  mean,
  tail,
  percentile,
  throughput,
  unmeasured,  // a spread, or what somebody worked out
  filler
};

/// The topic of a word in small letters; `none` where it is not known.
Topic topic_of(const std::string& word);

/// A piece of a name: a word, a number, or a number with its word ("isl1600", "16c", "conc_16").
struct NamePiece {
  std::string word;
  double number = 0;
  bool numbered = false;
};
/// A name in small letters, numbers with the words beside them: lengths as "1k" and "8k" count 1024.
std::vector<NamePiece> pieces_of(const std::string& name);

}  // namespace vram::accuracy
