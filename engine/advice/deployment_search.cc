#include "engine/advice/deployment_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/advice/change.h"
#include "engine/advice/question.h"
#include "engine/advice/remedies.h"
#include "engine/formats.h"
#include "engine/largest.h"
#include "engine/plan/measured_with.h"

namespace vram {
namespace {

constexpr const char* kReasons[] = {"impossible: sizes do not divide",
                                    "the weights leave no room",
                                    "hold fewer requests than asked",
                                    "too slow for tpot",
                                    "too slow for ttft",
                                    "too few requests a second for qps",
                                    "speed not known, so that no target can be checked",
                                    "another one does as much, as fast and as cheaply"};

double bits_of(std::string_view id) {
  const Format* format = find_format(id);
  return format != nullptr ? format->bits : 16;
}

/// Requests of one replica that may be promised, within `tpot` where it is given, and that the engine runs at a time;
/// at least one.
double most_in_flight(const Plan& plan, const ServingBill& bill) {
  double most = std::min(bill.promised_concurrency.value_or(0), plan.max_seqs);
  if (plan.tpot > 0) most = std::min(most, bill.max_concurrency_at_tpot.value_or(0));
  return std::max(1.0, std::floor(most));
}

bool asks_for_replicas(Question question) {
  return question == Question::replicas || question == Question::fewest_gpus || question == Question::cheapest;
}

/// What the question wants more of.
double wanted(Question question, const Plan& plan) {
  if (question == Question::concurrency) return plan.concurrency;
  return question == Question::context ? plan.prompt : 0;
}

/// By what the question asks first, then the other merits.
bool better(Question question, const DeploymentRow& a, const DeploymentRow& b) {
  const auto key = [question](const DeploymentRow& row) {
    const auto& [asked, rent, seconds, usd, bits] = row.merits;
    if (question == Question::fastest) return std::array{seconds, bits, rent, usd};
    if (question == Question::cheapest) return std::array{usd, bits, rent, seconds};
    if (question == Question::fewest_gpus || question == Question::replicas)
      return std::array{row.gpus, bits, rent, seconds};
    if (question == Question::fit) return std::array{bits, rent, seconds, usd};
    return std::array{asked, bits, rent, seconds};
  };
  return key(a) < key(b);
}

}  // namespace

DeploymentSearch::DeploymentSearch(const Plan& plan)
    : question_(without_side(plan.question)), kinds_(kinds_among(plan)) {
  for (Plan& kind : kinds_) keep_measured_with(plan, kind);
  const bool free = question_ == Question::replicas || question_ == Question::fewest_gpus;
  const bool own =
      plan.has(Key::serve_gpus) || plan.has(Key::serve_tp) || plan.has(Key::serve_pp) || plan.has(Key::serve_dp);
  fixed_ = own && !free;
  best_of_.set_kinds(kinds_.size());
  next_kind();
}

void DeploymentSearch::next_kind() {
  deployments_ = deployments(kinds_[kind_], fixed_);
  next_ = 0;
}

double DeploymentSearch::progress() const {
  const double of_kind =
      deployments_.empty() ? 1 : static_cast<double>(next_) / static_cast<double>(deployments_.size());
  return (static_cast<double>(kind_) + of_kind) / static_cast<double>(kinds_.size());
}

bool DeploymentSearch::step(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    while (next_ == deployments_.size()) {
      if (kind_ + 1 == kinds_.size()) return false;
      ++kind_;
      next_kind();
    }
    try_one(deployments_[next_++]);
  }
  return true;
}

bool DeploymentSearch::drop(Reason reason) {
  ++fell_out_[reason];
  return false;
}

void DeploymentSearch::try_one(const Deployment& deployment) {
  ++tried_;
  Plan plan = kinds_[kind_];
  deploy(deployment, plan);
  keep_measured_with(kinds_[kind_], plan);
  ServingBill bill = serving_bill(plan);
  if (bill.verdict == Verdict::invalid) {
    drop(illegal);
    return;
  }
  if (bill.device_bytes > bill.capacity_bytes || bill.promised_concurrency.value_or(0) < 1) {
    const double lack = serving_need(plan, bill) - static_cast<double>(bill.capacity_bytes);
    if (lack > 0 && (least_lack_bytes_ == 0 || lack < least_lack_bytes_)) least_lack_bytes_ = lack;
    drop(weights);
    return;
  }
  if (!load(plan, bill)) return;
  bill = serving_bill(plan);
  if (bill.verdict != Verdict::fits && bill.verdict != Verdict::tight) {
    drop(room);
    return;
  }
  DeploymentRow row = row_of(std::move(plan), bill);
  if (meets_targets(row)) keep(std::move(row));
}

/// Gives the replica the load that the question names.
bool DeploymentSearch::load(Plan& plan, const ServingBill& bill) {
  if (question_ == Question::context) return load_context(plan);
  if (question_ == Question::fit || question_ == Question::fastest) return true;
  const double in_flight = most_in_flight(plan, bill);
  if (asks_for_replicas(question_)) return load_replicas(plan, in_flight);
  put(plan, Key::concurrency, plan.concurrency, in_flight);
  resolve(plan);
  return true;
}

bool DeploymentSearch::load_replicas(Plan& plan, double in_flight) {
  const double requests = plan.concurrency * plan.replicas;  // of the plan as it is, all replicas
  put(plan, Key::replicas, plan.replicas, 1);
  put(plan, Key::concurrency, plan.concurrency, in_flight);
  resolve(plan);
  double replicas = std::ceil(requests / in_flight);
  if (plan.qps > 0) {
    const std::optional<double> rate = serving_bill(plan).requests_per_second;
    if (!rate) return drop(speed);
    replicas = std::ceil(plan.qps / *rate);
  } else {
    put(plan, Key::concurrency, plan.concurrency, std::ceil(requests / replicas));
  }
  if (!(replicas <= field(Key::replicas).most)) return drop(slow_rate);
  put(plan, Key::replicas, plan.replicas, replicas);
  resolve(plan);
  return true;
}

/// The longest prompt at which the plan's requests still fit: what a request takes never shrinks with its length.
bool DeploymentSearch::load_context(Plan& plan) {
  const double most = (plan.max_len > 0 ? plan.max_len : field(Key::prompt).most) - plan.output;
  const double least = std::max(1.0, plan.prefix) - 1;
  const double prompt = largest_that(least, most, [&](double tokens) {
    put(plan, Key::prompt, plan.prompt, tokens);
    resolve(plan);
    return serving_bill(plan).verdict == Verdict::fits;
  });
  if (prompt <= least) return drop(room);
  put(plan, Key::prompt, plan.prompt, prompt);
  resolve(plan);
  return true;
}

/// What misses a target least is kept while there is no row. A speed that is not known keeps to no target.
bool DeploymentSearch::meets_targets(const DeploymentRow& row) {
  struct Target {
    bool asked;
    const std::optional<double>& speed;
    double slow_by;  // factor
    Reason reason;
  };
  const Plan& plan = row.plan;
  const double rate = row.requests_per_second.value_or(0) * (1 + 1e-9);
  const Target targets[] = {
      {plan.tpot > 0, row.decode_seconds_per_token, row.decode_seconds_per_token.value_or(0) / plan.tpot, slow_token},
      {plan.ttft > 0, row.prefill_seconds, row.prefill_seconds.value_or(0) / plan.ttft, slow_prompt},
      {plan.qps > 0, row.requests_per_second, plan.qps / rate, slow_rate}};
  const Target* worst = nullptr;
  for (const Target& target : targets) {
    if (!target.asked) continue;
    if (!target.speed) return drop(speed);
    if (target.slow_by > 1 && (!worst || target.slow_by > worst->slow_by)) worst = &target;
  }
  if (!worst) return true;
  if (kept_ == 0 && (!missed_ || worst->slow_by < least_miss_)) {
    missed_ = row;
    least_miss_ = worst->slow_by;
  }
  return drop(worst->reason);
}

DeploymentRow DeploymentSearch::row_of(Plan plan, const ServingBill& bill) const {
  DeploymentRow row;
  const Plan& own = kinds_[kind_];
  row.verdict = bill.verdict;
  row.device_bytes = bill.device_bytes;
  row.gpus = plan.serve_gpus * plan.replicas;
  row.promised_concurrency = bill.promised_concurrency;
  row.longest_context = bill.longest_context;
  row.prefill_seconds = bill.prefill_seconds;
  row.decode_seconds_per_token = bill.decode_seconds_per_token;
  row.tokens_per_second = bill.tokens_per_second;
  row.requests_per_second = bill.requests_per_second;
  row.usd_per_million_tokens = bill.usd_per_million_tokens;
  row.bits_lost = bits_of(own.weights) - bits_of(plan.weights) + bits_of(own.kv) - bits_of(plan.kv);
  const double price = plan.price > 0 ? plan.price : 1;
  row.merits = {-wanted(question_, plan), row.gpus * price, bill.decode_seconds_per_token.value_or(0),
                bill.usd_per_million_tokens.value_or(0), row.bits_lost};
  row.plan = std::move(plan);
  return row;
}

void DeploymentSearch::keep(DeploymentRow row) {
  ++kept_;
  const auto leads = [&](const DeploymentRow& best) { return better(question_, row, best); };
  if (row.verdict == Verdict::fits && best_of_.wants(kind_, leads)) best_of_.set(kind_, row);
  ParetoSet<DeploymentRow>& rows = row.verdict == Verdict::fits ? fitting_ : tight_;
  if (rows.wants(row.merits)) rows.add(std::move(row));
}

void DeploymentSearch::finish(Answer& answer) const {
  answer.serving = true;
  answer.tried = tried_;
  answer.deployments = (fitting_.empty() ? tight_ : fitting_).rows();
  const auto in_order = [this](const DeploymentRow& a, const DeploymentRow& b) { return better(question_, a, b); };
  std::stable_sort(answer.deployments.begin(), answer.deployments.end(), in_order);
  answer.deployments_by_gpu = best_of_.rows(in_order);
  answer.gpus_without = best_of_.without(kinds_);
  std::array<size_t, reasons> fell_out = fell_out_;
  fell_out[beaten] = kept_ - answer.deployments.size();
  for (size_t i = 0; i < reasons; ++i) {
    if (fell_out[i] > 0) answer.fell_out.push_back({kReasons[i], fell_out[i]});
  }
  if (answer.deployments.empty()) {
    answer.nearest_deployment = missed_;
    if (!missed_ && least_lack_bytes_ > 0)
      answer.lacking_bytes = static_cast<uint64_t>(std::min(least_lack_bytes_, static_cast<double>(kLargestBillBytes)));
    return;
  }
  const DeploymentRow& best = answer.deployments.front();
  if (question_ == Question::concurrency || question_ == Question::context) answer.found = wanted(question_, best.plan);
  if (question_ == Question::fewest_gpus || question_ == Question::replicas) answer.found = best.gpus;
}

}  // namespace vram
