#pragma once

#include "engine/serving/replica.h"

namespace vram {

/// Times of one replica from rooflines. 0: not known (no bandwidth or peak, no shape).
struct Latency {
  double prefill_seconds = 0;  // one prompt, alone
  double decode_seconds = 0;   // one step: a token of each request in flight
  bool compute_bound = false;  // of the decode step: compute above bandwidth
};

/// With `requests` in flight in the whole replica.
Latency latency(const Plan& plan, const Replica& replica, double requests);

/// Requests that stay within `tpot` a token, the most up to `limit`.
double requests_at_tpot(const Plan& plan, const Replica& replica, double limit);

/// Seconds between two tokens of a request: a step, divided by the tokens that a speculative step yields.
double seconds_per_token(const Plan& plan, const Latency& times);

/// Requests a second of one replica with `requests` in flight: each waits for its own tokens and for the prefills of
/// the others.
double requests_per_second(const Plan& plan, const Latency& times, double requests);

}  // namespace vram
