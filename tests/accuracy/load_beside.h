#pragma once

#include <string>

#include "tests/accuracy/load.h"

namespace vram::accuracy {

/// What stands among the measured numbers and is how they were measured, as benchmarks print it: "num_prompts",
/// "serve_request_rate", "total_input_tokens".
struct LoadBeside {
  Load load;
  bool own = false;  // said of some figures alone, of this one, too: "serve_num_prompts" of "serve_out_tok_s"
};
LoadBeside load_beside(const json& c, const std::string& figure);

/// Lengths that rates of one run say: so many tokens a second at so many requests a second.
Load rated_lengths(const json& c, const std::string& figure);

/// Whether settings go by that word: "long" of "long_isl".
bool is_of_settings(const json& c, const std::string& word);

/// "output_tokens": 43140 of a run of 1000: the lengths of one of its requests.
Load of_one_request(const json& c, Load load);

}  // namespace vram::accuracy
