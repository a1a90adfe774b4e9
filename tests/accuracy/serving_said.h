#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "tests/accuracy/case_file.h"

namespace vram::accuracy {

// What a case says in words, beside its numbers, in small letters; a ";" begins each field.

/// Those fields.
std::string said_in(const json& c, std::initializer_list<const char*> fields);
/// Of the model and how it was started.
std::string said_of(const json& c);
/// What its checks explain.
std::string explained(const json& c);
/// Of its sections but what was measured: "load": {"dataset": "ShareGPT"}.
std::string said_in_sections(const json& c);
/// All of it.
std::string all_said(const json& c);

/// The number behind one of those words: "max_num_batched_tokens 8192", "--n-cpu-moe 30".
double number_said(const std::string& said, std::initializer_list<const char*> words);

/// Is "prefix caching" on? A field says so ("enable_prefix_caching", "disable_radix_cache") or the words of the case:
/// "no chunked prefill", "radix cache off". None: neither does.
std::optional<bool> switched(const json& c, std::string_view thing);

/// A number of what was measured or of the case, under the first of those names that is there.
double first_of(const json& c, std::initializer_list<const char*> names);

/// Tokens of a block of the cache. 0: not stated.
double block_size(const json& c);

/// Tokens of the longest request; of llama.cpp those of all slots. 0: not stated.
double stated_length(const json& c);

}  // namespace vram::accuracy
