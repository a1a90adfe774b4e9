#include <iterator>

#include "tests/accuracy/measurement.h"

namespace vram::accuracy {
namespace {

struct Name {
  Figure figure;
  const char* name;
};
constexpr Name kNames[] = {{Figure::states, "states"},
                           {Figure::estimator, "states and buffers"},
                           {Figure::host, "host"},
                           {Figure::activations, "activations"},
                           {Figure::layer, "activations of a layer"},
                           {Figure::steady, "static"},
                           {Figure::allocated, "allocated"},
                           {Figure::reserved, "reserved"},
                           {Figure::device, "device"},
                           {Figure::ran, "ran"},
                           {Figure::out_of_memory, "out of memory"},
                           {Figure::published_flops, "published FLOP/s"},
                           {Figure::speed, "tokens/s"},
                           {Figure::gpu_hours, "GPU-hours"},
                           {Figure::total_flops, "FLOPs"},
                           {Figure::saved, "saved bytes a token"},
                           {Figure::loss_peak, "loss bytes a token"},
                           {Figure::weights, "weights"},
                           {Figure::kv_token, "KV bytes a token"},
                           {Figure::kv_pool, "KV pool"},
                           {Figure::kv_tokens, "KV tokens"},
                           {Figure::concurrency, "concurrency"},
                           {Figure::buffers, "compute buffers"},
                           {Figure::serving_speed, "tokens/s served"},
                           {Figure::prefill_speed, "prompt tokens/s"},
                           {Figure::first_token, "time to first token"},
                           {Figure::first_token_together, "time to first token, clients start together"},
                           {Figure::token_time, "time a token"},
                           {Figure::input_speed, "prompt tokens/s served"},
                           {Figure::total_speed, "all tokens/s served"},
                           {Figure::request_rate, "requests/s"},
                           {Figure::request_latency, "time of a request"},
                           {Figure::run_time, "time of a run"},
                           {Figure::cells, "cells"},
                           {Figure::swap_tokens, "tokens in swap"},
                           {Figure::trap, "trap avoided"},
                           {Figure::head, "output head"},
                           {Figure::host_weights, "weights on the host"},
                           {Figure::host_buffers, "host compute buffer"},
                           {Figure::outputs, "output buffer"},
                           {Figure::pool_and_table, "KV pool and table"},
                           {Figure::parameters, "parameters"},
                           {Figure::file_layers, "layers of a file"},
                           {Figure::budget, "budget"},
                           {Figure::process, "process"},
                           {Figure::cache_layers, "layers with a cache"},
                           {Figure::window_cells, "window cells"},
                           {Figure::recurrent, "recurrent states"},
                           {Figure::state_slots, "state slots"},
                           {Figure::state_block, "tokens of a state's block"},
                           {Figure::request_table, "request table"},
                           {Figure::draft, "draft"},
                           {Figure::sum, "sum"},
                           {Figure::request_blocks, "blocks of a request"},
                           {Figure::request_cache, "cache of a request"},
                           {Figure::longest_request, "longest request"},
                           {Figure::pool_share, "share of the free memory"},
                           {Figure::any, "every figure"},
                           {Figure::other, "other"}};

constexpr const char* kReadings[] = {"fullest", "first", "last", "first or last"};

}  // namespace

const char* figure_name(Figure figure) {
  for (const Name& row : kNames)
    if (row.figure == figure) return row.name;
  return "";
}

const char* reading_name(Reading reading) { return kReadings[static_cast<size_t>(reading)]; }

Reading reading_of_name(const std::string& name) {
  for (size_t i = 0; i < std::size(kReadings); ++i)
    if (name == kReadings[i]) return static_cast<Reading>(i);
  return Reading::fullest;
}

bool figure_of(const std::string& name, Figure* figure) {
  for (const Name& row : kNames) {
    if (row.name != name) continue;
    *figure = row.figure;
    return true;
  }
  return false;
}

}  // namespace vram::accuracy
