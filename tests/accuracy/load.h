#pragma once

#include <string>
#include <vector>

#include "tests/accuracy/case_file.h"
#include "tests/accuracy/measurement.h"

namespace vram::accuracy {

/// Under what a speed was measured. 0: not stated.
struct Load {
  double prompt = 0, output = 0;  // tokens of a request
  double clients = 0;             // requests that are under way at most, each replaced where it ends
  double requests = 0;            // of the whole benchmark
  double rate = 0;                // requests that arrive in a second; infinite: all of them at one moment
  double micro_batch = 0;
  double depth = 0;             // tokens in the cache before the prompt
  double slots = 0;             // what the server admits
  double longest = 0;           // output to the mean: 2 of even lengths, infinite of a data set's; 0: one length
  bool means = false;           // its lengths are those that were, not what a benchmark was told
  bool saturated = false;       // as many requests as the server holds
  bool batched = false;         // one batch from its first token to its last
  bool rate_by_letter = false;  // "r2", which may be the second run
};

/// No request has more tokens: such a count is that of all of them.
inline constexpr double kLongestRequest = 131072;

/// What is said in `by` counts before what is said here.
Load overridden(const Load& load, const Load& by);

/// A benchmark's own lengths, where a case names it and says no others.
Load with_known_lengths(Load load, const std::string& said);

/// What a figure's name says: "ttft_ms_p50_c8_isl1600".
struct FigureName {
  bool is_speed = false;             // else some other figure
  std::string unread;                // why it cannot be predicted
  std::vector<std::string> unknown;  // words of it that are not known
  Figure figure = Figure::other;
  double scale = 1;      // the measured number times this is in seconds, or a second
  bool inverse = false;  // a rate of one stream, whose time it is
  bool per_gpu = false, per_stream = false, median = false;
  bool percentile = false;
  bool of_tokens = false;  // a mean over tokens
  Load load;
};
FigureName read_figure_name(const std::string& name);

/// What the fields of a case say.
Load load_of_fields(const json& c);

}  // namespace vram::accuracy
