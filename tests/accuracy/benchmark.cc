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

/// Of one of many prompts that come together.
double prompt_seconds(const Run& run) { return latency(run.plan, replica_of(run.plan), run.slots).packed_seconds; }

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
  return known && run.stated() && !run.paced() && !run.m.apart && run.m.longest <= 1;
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
    const double each = std::max(prompt_seconds(run), admission_seconds(run.plan));
    const double filled = run.slots * each, after = std::max(0.0, run.m.requests - run.slots);
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
/// get_next_batch_to_run); vllm's of one length come back together, and are let in one after the other.
double first_of_later_rounds(const Run& run) {
  if (in_rounds(run) && run.plan.engine == Engine::sglang) return run.burst();
  const bool meet = run.m.longest <= 1 && !run.m.apart && !run.queued();
  return run.first() + (meet ? admission_seconds(run.plan) * run.slots / 2 : 0);
}

/// Of clients that start together one round of requests is a burst.
double first_token(const Run& run, bool together) {
  const double wait = queued_seconds(run);
  if (!run.queued() && (!together || run.paced())) return wait + run.first();
  const double later = first_of_later_rounds(run);
  return wait + later + (run.burst() - later) / run.rounds();
}

/// Steps of a burst's first passes, which prompts fill up.
struct Filling {
  double steps = 0, step = 0;
};
Filling filling_of(const Run& run) {
  Filling out;
  out.steps = run.slots * run.plan.prompt / at_least_one(run.plan.batch_tokens);
  const double seconds = 2 * std::max(0.0, run.burst() - server_seconds(run.plan));
  out.step = out.steps > 0 ? seconds / out.steps : 0;
  return out;
}

constexpr int kParts = 64;  // of an integral

/// Of outputs of mean length O, exponentially distributed, the share that falls into the first r steps: of all tokens
/// 1 - exp(-r/O), of the mean request that and (r/O) E1(r/O), the integral of exp(-x)/x from r/O on. The mean over
/// requests that begin at any of the passes.
double share_while_filling(double passes, double output, bool of_tokens) {
  double sum = 0;
  for (int part = 0; part < kParts; ++part) {
    const double at = passes * (part + 0.5) / kParts / output;
    double tail = 0, from = at;
    for (int i = 0; !of_tokens && i < kParts; ++i) {  // over the logarithm
      const double to = from * 1.15;
      tail += std::exp(-(from + to) / 2) * std::log(1.15);
      from = to;
    }
    sum += 1 - std::exp(-at) + at * tail;
  }
  return sum / kParts;
}

constexpr double kLogTwo = 0.6931;

/// After the burst. The last requests are followed by none, and fewer and fewer are left: of lengths as an
/// exponential's the mean request is written beside ln 2 of all, the mean token beside half of them.
double token_time_after(const Run& run) {
  const double last = std::min(1.0, run.slots / at_least_one(run.m.requests));
  const double left = step_of(run, std::ceil(run.slots * (run.m.of_tokens ? 0.5 : kLogTwo)));
  return last * left + (1 - last) * run.token();
}

/// Of a data set's requests. vllm's steps take prompts along: short ones are written while the burst is worked through.
/// sglang's wait until it is (get_next_batch_to_run).
double token_time_of_burst(const Run& run) {
  const Filling filling = filling_of(run);
  const double first = std::min(1.0, run.slots / at_least_one(run.m.requests)), after = token_time_after(run);
  if (run.plan.engine == Engine::sglang) return after + first * filling.steps * filling.step / 2 / run.plan.output;
  const double share = first * share_while_filling(filling.steps, run.plan.output, run.m.of_tokens);
  return share * std::max(filling.step, after) + (1 - share) * after;
}

/// More than half of the steps take no prompt along: the middle one of all tokens' times is of such a step. Prompts of
/// a round share passes, others come one by one.
bool is_of_plain_step(const Run& run) {
  if (!run.m.of_steps || run.plan.engine == Engine::llamacpp) return false;
  const double share = run.plan.prompt / at_least_one(run.plan.batch_tokens);
  const bool shared = in_rounds(run) || (run.stated() && run.m.requests <= run.slots);
  const double passes = run.slots / replica_of(run.plan).dp * (shared ? share : at_least_one(share));
  return passes < 0.5 * run.plan.output;
}

/// A request that came late in a burst is not kept waiting by the prompts before it.
double token_time(const Run& run) {
  if (is_of_plain_step(run)) return step_of(run, run.slots);
  if (!run.stated() || run.paced() || run.plan.output <= 1) return run.token();
  const bool known = run.plan.engine == Engine::vllm || run.plan.engine == Engine::sglang;
  if (known && std::isinf(run.m.longest) && std::isinf(run.m.rate)) return token_time_of_burst(run);
  if (in_rounds(run)) {
    const double later = first_of_later_rounds(run), first = later + (run.burst() - later) / run.rounds();
    return std::max(step_of(run, 1), (cycle_of(run, run.slots) - first) / run.plan.output);
  }
  const double alone = run.bill.prefill_seconds.value_or(0);
  return run.token() - std::max(0.0, run.burst() - alone) / run.plan.output / run.rounds();
}

/// Of a prompt those that are in no cache.
double read_tokens(const Plan& plan) { return plan.prompt - std::min(plan.prefix, plan.prompt) * plan.prefix_hit; }

}  // namespace

double benchmark_figure(const Measurement& m, Figure figure, const Plan& plan, const ServingBill& bill) {
  const Run run(m, plan, bill);
  switch (figure) {
    case Figure::prefill_speed:
      return bill.prefill_seconds.value_or(0) > 0 ? read_tokens(plan) / *bill.prefill_seconds : 0;
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
    case Figure::run_time:
      return run.stated() ? makespan(run) : 0;
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
