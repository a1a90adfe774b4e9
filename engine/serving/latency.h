#pragma once

#include "engine/serving/replica.h"

namespace vram {

/// Times of one replica from rooflines. 0: not known (no bandwidth or peak, no shape).
struct Latency {
  double prefill_seconds = 0;      // one prompt, alone
  double step_seconds = 0;         // decoding: a token of each request in flight, or what a speculative step yields
  double token_seconds = 0;        // between two tokens of a request, prefills of the others in between
  double first_token_seconds = 0;  // from a request's arrival, behind the prefills that are under way
  double burst_seconds = 0;        // the same where all requests arrive at one moment, the mean of them
  double packed_seconds = 0;       // a prompt's share of passes that are full of them, of all ranks and stages
  bool compute_bound = false;      // of the decode step: compute above bandwidth
};

/// With `requests` in flight in the whole replica: each that ends is followed by another one.
Latency latency(const Plan& plan, const Replica& replica, double requests);

/// Requests that stay within `tpot` a token and `ttft` to the first (0: no target), the most up to `limit`.
double requests_in_time(const Plan& plan, const Replica& replica, double tpot, double ttft, double limit);

/// Requests a second of one replica with `requests` in flight: each waits for its own tokens and for the prefills of
/// the others.
double requests_per_second(const Plan& plan, const Latency& times, double requests);

/// Half-width of the band on all of these, as a share: nine in ten figures are that near, of ML.ENERGY's 154 steady
/// loads, of 57 from 25 sources that were written down before they were estimated, of TensorRT-LLM's 250; 67, 75 and
/// 81% of three later samples, most of them mixtures.
inline constexpr double kLatencyBand = 0.35;

}  // namespace vram
