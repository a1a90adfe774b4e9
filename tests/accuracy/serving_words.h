#pragma once

#include <string>

namespace vram::accuracy {

/// The format that a text names: "FP8-dynamic", "w4a16", "Q4_K - Medium"; "?" for a GGUF type that is not one of the
/// engine's, "" where none is named.
std::string format_of(const std::string& given);

/// "q4_k_m" where a text names a GGUF type; "?" where that type is not one of the engine's.
std::string gguf_type(const std::string& given);

/// A release of vllm, sglang or trtllm as `engine_version` takes it: "0.8.5V0" of "v0.8.5 (V0 engine)", "0.11." of
/// "0.11.x"; of llama.cpp a build or a date. "" where none is told: "0.2x", "nightly".
std::string version_of(const std::string& given, bool llamacpp);

/// The newest release of vllm or sglang on the day that a text names ("main (2025-08-19)", "2025-08"); "" where it
/// names none, or one later than the last that is known here.
std::string release_of_date(const std::string& given, const std::string& engine);

/// The month of llama.cpp that figures in one of its issues are of at the earliest: "ggml-org/llama.cpp#7676". "" where
/// the source is none.
std::string llamacpp_of_issue(const std::string& source);

/// Bytes of a check's unit; 0 for units that are no size. What engines print as GB and MB is binary.
double bytes_of_unit(const std::string& unit);

/// "1e9" parameters; 1 of other units.
double power_of_unit(const std::string& unit);

}  // namespace vram::accuracy
