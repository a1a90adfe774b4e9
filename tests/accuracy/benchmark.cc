#include "tests/accuracy/benchmark.h"

#include <algorithm>
#include <cmath>

#include "engine/serving/latency.h"
#include "engine/serving/roofline.h"

namespace vram::accuracy {
namespace {

/// Requests of one client where a benchmark does not say how many it sent: InferenceX's clients send ten each
/// (SemiAnalysisAI/InferenceX, 640 requests of 64 clients in #980).
constexpr double kUsualRounds = 10;

double at_least_one(double value) { return std::max(1.0, value); }

/// A run from its first request to its last.
struct Run {
  const Measurement& m;
  const Plan& plan;
  const ServingBill& bill;
  double slots;  // requests under way

  Run(const Measurement& measured, const Plan& p, const ServingBill& b)
      : m(measured), plan(p), bill(b), slots(at_least_one(p.concurrency)) {}

  bool stated() const { return m.requests > 0; }
  bool open() const { return m.rate > 0; }
  double token() const { return bill.decode_seconds_per_token.value_or(0); }
  double first() const { return bill.ttft_seconds.value_or(0); }
  double burst() const { return bill.ttft_burst_seconds.value_or(first()); }
  double rate() const { return bill.requests_per_second.value_or(0); }
  double cycle() const { return rate() > 0 ? slots / rate() : 0; }
  double rounds() const { return stated() ? at_least_one(m.requests / slots) : kUsualRounds; }
  /// Requests come slower than they are served.
  bool paced() const { return open() && m.rate < rate() * 0.999; }
  /// ... or stand in a queue from the beginning.
  bool queued() const { return open() && !paced(); }
};

/// Prompts that one pass takes together.
double prompts_a_pass(const Run& run) {
  return std::clamp(std::floor(run.plan.batch_tokens / at_least_one(run.plan.prompt)), 1.0, run.slots);
}

/// Of one of many prompts: a burst's mean is that of half of them.
double prompt_seconds(const Run& run) {
  return 2 * std::max(0.0, run.burst() - server_seconds(run.plan)) / (run.slots + prompts_a_pass(run));
}

/// A token's time where nothing is prefilled.
double step_of(const Run& run, double requests) {
  const Replica replica = replica_of(run.plan);
  const Latency one = latency(run.plan, replica, 1);
  const double tokens = one.token_seconds > 0 ? one.step_seconds / one.token_seconds : 1;  // of a speculative step
  return latency(run.plan, replica, requests).step_seconds / tokens;
}

constexpr double kEuler = 0.5772;

/// Outputs of one length that were under way together end together. Where a source does not count its requests, it does
/// not say either that their lengths are one.
bool in_rounds(const Run& run) {
  const bool known = run.plan.engine == Engine::sglang || run.plan.engine == Engine::vllm;
  return known && run.stated() && !run.paced() && run.m.longest <= 1;
}

/// Seconds of one round of so many requests: their prompts come as a burst.
double cycle_of(const Run& run, double requests) {
  if (in_rounds(run)) return requests * prompt_seconds(run) + run.plan.output * step_of(run, requests);
  Plan few = run.plan;
  few.concurrency = requests;
  const double rate = serving_bill(few).requests_per_second.value_or(0);
  return rate > 0 ? requests / rate : 0;
}

/// From the last start to the last end. Lengths of a data set are near enough to an exponential's, of which j under way
/// end in O t(j) / j: the sum over j, the integral over its logarithm here. Of lengths up to twice their mean half of
/// the requests are under way on average.
double tail_seconds(const Run& run) {
  const double output = run.plan.output;
  if (!std::isinf(run.m.longest)) return run.m.longest * output * step_of(run, std::ceil(run.slots / 2));
  double left = step_of(run, 1), sum = kEuler * left;
  for (double at = 1; at < run.slots;) {
    const double next = std::min(4 * at, run.slots), right = step_of(run, next);
    sum += (left + right) / 2 * std::log(next / at);
    left = right;
    at = next;
  }
  return output * sum;
}

/// All rounds, and one of what is left; requests of several lengths follow each other without rounds.
double worked_seconds(const Run& run) {
  if (run.m.longest > 1 && run.rate() > 0) {
    const double filled = run.slots * prompt_seconds(run), after = std::max(0.0, run.m.requests - run.slots);
    return filled + after / run.rate() + tail_seconds(run);
  }
  const double full = std::floor(run.m.requests / run.slots + 1e-9), left = run.m.requests - full * run.slots;
  return full * cycle_of(run, run.slots) + (left >= 1 ? cycle_of(run, left) : 0);
}

/// No shorter than the arrivals and the last one's time.
double makespan(const Run& run) {
  const double last = run.m.longest > 1 ? tail_seconds(run) : run.cycle();
  const double arriving = run.open() && !std::isinf(run.m.rate) ? run.m.requests / run.m.rate + last : 0;
  return run.paced() ? arriving : std::max(arriving, worked_seconds(run));
}

double request_rate(const Run& run) {
  if (run.paced() && !run.stated()) return run.m.rate;
  if (!run.stated()) return run.rate();
  const double seconds = makespan(run);
  return seconds > 0 ? run.m.requests / seconds : 0;
}

/// The mean time in the queue: requests leave it as fast as they are served, those of one length a round at a time.
double queued_seconds(const Run& run) {
  if (run.m.waiting > 0) return run.rate() > 0 ? run.m.waiting / run.rate() : 0;
  const double waiting = run.m.requests - run.slots;
  if (!run.queued() || waiting <= 0 || run.rate() <= 0) return 0;
  const double arriving = std::isinf(run.m.rate) ? 0 : 1 / run.m.rate;
  const double share = run.m.longest > 1 ? waiting / run.m.requests : 1;
  return share * waiting / 2 * std::max(0.0, 1 / run.rate() - arriving);
}

/// sglang's requests of a round end together, as prompts go before steps there (srt/managers/scheduler.py,
/// get_next_batch_to_run); vllm's come apart.
double first_of_later_rounds(const Run& run) {
  return in_rounds(run) && run.plan.engine == Engine::sglang ? run.burst() : run.first();
}

/// Of clients that start together one round of requests is a burst.
double first_token(const Run& run, bool together) {
  const double wait = queued_seconds(run);
  if (!run.queued() && (!together || run.paced())) return wait + run.first();
  const double later = first_of_later_rounds(run);
  return wait + later + (run.burst() - later) / run.rounds();
}

/// A request that came late in a burst is not kept waiting by the prompts before it.
double token_time(const Run& run) {
  if (!run.stated() || run.paced() || run.plan.output <= 1) return run.token();
  if (in_rounds(run)) {
    const double later = first_of_later_rounds(run), first = later + (run.burst() - later) / run.rounds();
    return std::max(step_of(run, 1), (cycle_of(run, run.slots) - first) / run.plan.output);
  }
  const double alone = run.bill.prefill_seconds.value_or(0);
  return run.token() - std::max(0.0, run.burst() - alone) / run.plan.output / run.rounds();
}

}  // namespace

double benchmark_figure(const Measurement& m, Figure figure, const Plan& plan, const ServingBill& bill) {
  const Run run(m, plan, bill);
  switch (figure) {
    case Figure::prefill_speed:
      return bill.prefill_seconds.value_or(0) > 0 ? plan.prompt / *bill.prefill_seconds : 0;
    case Figure::serving_speed:
      return request_rate(run) * plan.output;
    case Figure::input_speed:
      return request_rate(run) * plan.prompt;
    case Figure::total_speed:
      return request_rate(run) * (plan.prompt + plan.output);
    case Figure::request_rate:
      return request_rate(run);
    case Figure::request_latency:
      return queued_seconds(run) + run.cycle();
    case Figure::first_token:
      return first_token(run, false);
    case Figure::first_token_together:
      return first_token(run, true);
    case Figure::token_time:
      return token_time(run);
    default:
      return 0;
  }
}

}  // namespace vram::accuracy
