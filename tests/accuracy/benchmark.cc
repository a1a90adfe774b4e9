#include "tests/accuracy/benchmark.h"

#include <algorithm>
#include <cmath>

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

/// Seconds of one round of so many requests.
double cycle_of(const Run& run, double requests) {
  Plan few = run.plan;
  few.concurrency = requests;
  const double rate = serving_bill(few).requests_per_second.value_or(0);
  return rate > 0 ? requests / rate : 0;
}

/// All rounds, and one of what is left. Requests that are paced take the last one's time longer than their arrivals.
double makespan(const Run& run) {
  if (run.paced()) return run.m.requests / run.m.rate + run.cycle();
  const double full = std::floor(run.m.requests / run.slots + 1e-9), left = run.m.requests - full * run.slots;
  return full * run.cycle() + (left >= 1 ? cycle_of(run, left) : 0);
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
  const double share = run.m.varied ? waiting / run.m.requests : 1;
  return share * waiting / 2 * std::max(0.0, 1 / run.rate() - arriving);
}

/// Of clients that start together one round of requests is a burst.
double first_token(const Run& run, bool together) {
  const double wait = queued_seconds(run);
  if (!run.queued() && (!together || run.paced())) return wait + run.first();
  return wait + run.first() + (run.burst() - run.first()) / run.rounds();
}

/// A request that came late in a burst is not kept waiting by the prompts before it.
double token_time(const Run& run) {
  if (!run.stated() || run.paced() || run.plan.output <= 1) return run.token();
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
