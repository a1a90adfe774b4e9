#pragma once

#include <initializer_list>
#include <optional>
#include <string>

#include "tests/accuracy/case_file.h"

namespace vram::accuracy {

// What people write of how llama.cpp was started: small letters are expected.

/// A switch among the measured fields or beside them, as a truth, a number or a word.
std::optional<bool> switched(const json& c, std::initializer_list<const char*> names);

bool is_ollama(const json& c);

/// "-fa", "flash_attn 1", "FlashAttention false", "flash_attn auto -> disabled", "no flash attention"; nothing where it
/// is left to the program ("auto"), or where it is said both ways.
std::optional<bool> flash_said(const std::string& said);

/// "-ub 4096", "n_ubatch 2048"; of builds whose micro-batch is the whole context so much as that. 0: not said.
double ubatch_said(const std::string& said, double context);

/// "--parallel 4", "n_seq_max 4", "-np 1". 0: not said.
double slots_said(const std::string& said, bool ollama);

/// "-c 8192", "--ctx-size 32k", "KvSize 8192": of all slots together. 0: not said.
double context_said(const std::string& said);

/// Types of keys and values, where both are told: "-ctk q8_0 -ctv q4_0", "K q8_0, V f16".
struct CacheTypes {
  std::string keys, values;  // both empty: not told apart
};
CacheTypes cache_types_said(const std::string& said);

/// Layers on one of several devices: "55 of 78 layers on card 0", "13 layers". 0: not said.
double layers_said(const std::string& said);

/// A case of a processor alone: "CPU, 27.5 GiB free", "Raspberry Pi 5 (CPU)", of no GPU.
bool runs_on_cpu(const json& c);

}  // namespace vram::accuracy
