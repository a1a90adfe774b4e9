#pragma once

#include <cmath>
#include <cstdint>
#include <string>

namespace vram::accuracy {

/// What a measured number is, and with that which sum of the report answers it (figures.cc).
enum class Figure : uint8_t {
  states,           // weights + gradients + optimizer
  estimator,        // DeepSpeed's estimator: those and the named buffers
  host,             // host memory of a node
  activations,      // the activations line of the first stage
  layer,            // the activations line of one layer
  steady,           // allocated between two steps
  allocated,        // torch.cuda.max_memory_allocated
  reserved,         // torch.cuda.max_memory_reserved
  device,           // nvidia-smi
  ran,              // the job ran: the verdict is not `exceeds`
  out_of_memory,    // it did not: the verdict is `exceeds` or `tight`
  published_flops,  // FLOP/s as published, from the tokens a second
  speed,            // training tokens a second a GPU
  gpu_hours,
  total_flops,
  saved,      // bytes a token that autograd keeps of one layer
  loss_peak,  // bytes a token that head and loss hold at most
  weights,
  kv_token,
  kv_pool,
  kv_tokens,
  concurrency,
  buffers,
  swap_tokens,
  trap,          // serving
  head,          // the output head alone
  host_weights,  // what llama.cpp keeps of the file in host memory
  host_buffers,
  outputs,         // rows of logits that llama.cpp keeps in host memory
  pool_and_table,  // sglang's KV pool and its table of requests
  parameters,
  file_layers,      // of a GGUF file: prediction modules count
  budget,           // share of the card that the engine may use
  process,          // what the card says the engine takes
  cache_layers,     // that keep a cache
  window_cells,     // tokens that llama.cpp's window layers keep
  recurrent,        // states of linear and state-space layers
  state_slots,      // requests whose states sglang's pool holds
  state_block,      // tokens of vllm's block that holds a state, too
  request_table,    // sglang's table of requests and what rounds its pool
  draft,            // weights of a draft
  sum,              // several of a llama.cpp bill's lines
  request_blocks,   // of the longest request
  request_cache,    // its bytes on a GPU, of every layer
  longest_request,  // that the pool has room for
  pool_share,       // of what is free, the share that the cache gets
  other,            // nothing that the bill has
  any,              // several figures scored together
  serving_speed,
  prefill_speed,
  first_token,
  first_token_together,  // the mean over a benchmark whose clients start at one moment
  token_time,
  input_speed,  // of a benchmark: tokens of its prompts a second
  total_speed,  // and of prompts and outputs
  request_rate,
  request_latency,  // of a whole request
  run_time,         // of a benchmark from its first request to its last
  cells             // of llama.cpp's cache, as its builds round them
};
const char* figure_name(Figure figure);
/// The figure of that name; false where there is none.
bool figure_of(const std::string& name, Figure* figure);

/// Which pipeline stage a reading is of.
enum class Reading : uint8_t { fullest, first, last, first_or_last };
const char* reading_name(Reading reading);
Reading reading_of_name(const std::string& name);

/// One measured number of one case, and what the engine says about it.
struct Measurement {
  std::string id, family, source;
  Figure figure = Figure::allocated;
  Reading reading = Reading::fullest;
  bool best = false;    // tier A: read in the original
  std::string share;    // the plan
  std::string part;     // of a layer: "attention", "mlp", "moe"; "" the whole
  std::string skipped;  // why it cannot be expressed; `share` is then what could be
  double measured = 0;  // bytes, tokens a second, hours ... never GiB; as published, never changed by an answer
  std::string unit;     // as printed: "GiB"
  double estimate = 0;
  double band = 0;  // half-width, in the unit of `estimate`

  void skip_for(const std::string& why) {
    if (skipped.empty()) skipped = why;
  }
  double rounding = 0;     // half of the last digit that was printed: an estimate within it is what the log says
  double relative_to = 0;  // what the error counts against, where that is not `measured`

  double tokens_per_second = 0;  // measured, of a GPU: what published FLOP/s are worked out from
  double largest_layer = 0;      // parameters, as told to DeepSpeed's estimator
  double requests = 0;           // of a benchmark, of all its clients; 0: not stated
  double rate = 0;               // of them arrive in a second; infinite: all at one moment; 0: each where one ends
  double waiting = 0;            // clients beyond those that the server has under way
  bool of_tokens = false;        // a time between tokens is the mean of all of them, not of requests
  bool of_steps = false;         // ... the middle one of all of them
  bool apart = false;            // clients do not start together
  double longest = 0;            // output of them to their mean: 2 of even lengths, infinite of a data set's; 0: one

  /// 1: the estimate is the measurement.
  double ratio() const {
    if (std::fabs(estimate - measured) <= rounding) return 1;
    if (relative_to > 0) return 1 + (estimate - measured) / relative_to;
    return measured > 0 ? estimate / measured : 0;
  }
  /// Of the figure that a wrong formula gives, anything but that figure is right.
  double error() const {
    const double off = ratio() < 1 ? 1 - ratio() : ratio() - 1;
    return figure == Figure::trap ? (off > 0.02 ? 0 : 1) : off;
  }
};

}  // namespace vram::accuracy
