#pragma once

#include <string>

namespace vram::accuracy {

/// The llama.cpp in the last releases that had a runner of their own (Makefile.sync of 0.13.5 to 0.24).
inline constexpr const char* kLastRunner = "b7437";

/// The month of the llama.cpp in Ollama's runner, of the release or the day that a text names; "" before 0.7.0, when it
/// was new on either day, and where neither is told.
std::string ollama_runner(const std::string& given);

/// Has it an engine of its own beside llama.cpp? From 0.6 on.
bool ollama_has_engine(const std::string& given);

/// Do its estimates count a layer's cache among its weights? llm/memory.go till 0.6.0.
bool ollama_weighs_cache(const std::string& given);

/// Does its estimate of a Llama's graph look at logits, too? llm/ggml.go, GraphSize, from 0.3.10 on (pull request
/// 6260).
bool ollama_counts_logits(const std::string& given);

/// Works on one request at a time where it is not told otherwise (ollama#11330, 0.10); before, on four where there was
/// room for them. Of a release that is not told, too.
bool ollama_serves_one(const std::string& given);

}  // namespace vram::accuracy
