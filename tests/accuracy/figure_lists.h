#pragma once

#include "tests/accuracy/case_file.h"

namespace vram::accuracy {

/// A case whose measured lists are numbers of their own: one for each of the clients, prompts or outputs that its load
/// lists as many of ("prefill_tok_s": [700, 900] at "prompt_tokens": [1024, 8192] is "prefill_tok_s_isl1024" and
/// "…_isl8192"), else the mean of what was measured again and again.
json without_lists(const json& c);

}  // namespace vram::accuracy
