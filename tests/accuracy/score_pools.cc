#include "tests/accuracy/score.h"

namespace vram::accuracy {
namespace {

bool says(const Measurement& m, const char* sort) { return m.family.find(sort) != std::string::npos; }

/// A formula's figure against one of a log that it was not made from.
bool independent(const Measurement& m) { return says(m, ", independent") || says(m, ", logs"); }

bool check(const Measurement& m) { return says(m, ", independent"); }

bool counted(const Measurement& m) {
  const bool of_cache = m.figure == Figure::kv_token || m.figure == Figure::concurrency;
  return says(m, "pool given") || (of_cache && independent(m));
}

bool pool_predicted(const Measurement& m) { return says(m, "pool predicted"); }

bool of_llamacpp(const Measurement& m) {
  return independent(m) && (m.family.rfind("llamacpp", 0) == 0 || m.family.rfind("ollama", 0) == 0);
}

bool speed(const Measurement& m) {
  return m.figure == Figure::serving_speed || m.figure == Figure::prefill_speed || m.figure == Figure::first_token ||
         m.figure == Figure::first_token_together || m.figure == Figure::token_time ||
         m.figure == Figure::input_speed || m.figure == Figure::total_speed || m.figure == Figure::request_rate ||
         m.figure == Figure::request_latency || m.figure == Figure::run_time;
}

}  // namespace

const std::vector<Pool>& serving_pools() {
  static const std::vector<Pool> pools = {{"all, serving, independent", Figure::any, check},
                                          {"all, serving, tokens and requests", Figure::any, counted},
                                          {"all, serving, pool predicted", Figure::kv_pool, pool_predicted},
                                          {"all, serving", Figure::weights, independent},
                                          {"all, serving, llama.cpp", Figure::buffers, of_llamacpp},
                                          {"all, serving, speed", Figure::serving_speed, speed},
                                          {"all, serving, speed", Figure::prefill_speed, speed},
                                          {"all, serving, speed", Figure::first_token, speed},
                                          {"all, serving, speed", Figure::first_token_together, speed},
                                          {"all, serving, speed", Figure::token_time, speed},
                                          {"all, serving, speed", Figure::any, speed}};
  return pools;
}

}  // namespace vram::accuracy
