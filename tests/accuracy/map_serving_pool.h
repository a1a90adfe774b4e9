#pragma once

#include <string>
#include <vector>

#include "tests/accuracy/serving_map.h"

namespace vram::accuracy {

/// Tokens that the log says its cache holds; of a check's name the words that tell several caches apart.
double cached_tokens(const json& c, const std::string& check);
double tokens_beside(const json& c, const std::string& check);

/// Whether the plan's linear and state-space layers have states of known size.
bool knows_states(const ServingMap& m);

/// GiB of the pool, and of the states beside it, as logged. 0: not logged.
double logged_pool_gib(const json& c);
double logged_states_gib(const json& c);

/// Half of the last digit of what was printed in two and says little more, a quarter of a percent: "0.12 GB", "1.56".
/// 0: it was printed in more.
double half_digit(double printed);

/// GiB that so many tokens take on a GPU, where every layer keeps every token; else 0.
double gib_of_tokens(const ServingMap& m, double tokens);

/// Do vllm's equal groups of layers share the blocks, so that bytes over printed tokens are nobody's?
bool in_groups(const ServingMap& m);

// Figures of the KV cache: those of a check (false: it is none of theirs), and those of every log that states them.
void add_cache(const ServingMap& m, const json& check, std::vector<Measurement>& out);
bool add_share_of_free(const ServingMap& m, const json& check, std::vector<Measurement>& out);
bool add_blocks_of_request(const ServingMap& m, const json& check, std::vector<Measurement>& out);
bool add_blocks_of_free(const ServingMap& m, const json& check, std::vector<Measurement>& out);
bool add_block(const ServingMap& m, const json& check, std::vector<Measurement>& out);
bool add_pool_of_other(const ServingMap& m, const json& check, std::vector<Measurement>& out);
void add_capacity(const ServingMap& m, std::vector<Measurement>& out);
void add_pool(const ServingMap& m, std::vector<Measurement>& out);
bool add_pool_end(const ServingMap& m, const json& check, std::vector<Measurement>& out);
bool add_refusal(const ServingMap& m, const json& check, std::vector<Measurement>& out);
bool add_swap_check(const ServingMap& m, const json& check, std::vector<Measurement>& out);
void add_swap(const ServingMap& m, std::vector<Measurement>& out);

/// GiB of swap that the case says, where they are not vllm's usual ones; else 0.
double swap_beside_usual(const json& c);

/// Of a log of two caches ("fp16 and fp8") the format that a figure's name ends with.
void set_cache_format(ServingMap& m, const std::string& name);

}  // namespace vram::accuracy
