#include "engine/advice/layout_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/advice/question.h"
#include "engine/compute/compute.h"
#include "engine/largest.h"
#include "engine/training/training.h"

namespace vram {
namespace {

constexpr Recompute kRecompute[] = {Recompute::full, Recompute::selective, Recompute::none};  // leanest first
constexpr double kMostSequences = 4096;             // of a micro-batch, where no global batch limits it
constexpr double kMostTokens = 16.0 * 1024 * 1024;  // of a sequence, where the model does not limit it
constexpr double kSequenceStep = 128;
constexpr double kMicroBatchesAStage = 8;  // where a step's batch is free: a bubble of an eighth
constexpr double kRoomAboveFewest = 4;     // counts of GPUs that may be cheaper or faster than the fewest

/// Weights, gradients, optimizer states, adapters, and what lies outside PyTorch: whatever the micro-batch and the
/// recomputation of a spread.
uint64_t state_bytes(const TrainingBill& bill) {
  uint64_t sum = 0;
  for (const Line& line : bill.lines) {
    const std::string_view id = line.id;
    const bool passing =
        id == "activations" || id == "logits" || id == "gathered" || id == "buffers" || id == "fragmentation";
    if (!passing) sum += line.bytes;
  }
  return sum;
}

/// Without a shape a plan is tight at best: then what leaves room counts.
bool holds(const Plan& plan, const TrainingTotals& totals) {
  return totals.verdict == Verdict::fits ||
         (!plan.subject->has_shape && totals.verdict == Verdict::tight && totals.headroom_bytes >= 0);
}

bool fits(const Plan& plan) {
  const TrainingTotals totals = training_totals(plan);
  return holds(plan, totals) && totals.host_verdict != Verdict::exceeds;
}

/// Gradients that a step's only micro-batch frees before it: the one case in which a larger micro-batch takes less.
bool frees_gradients(const Spread& spread) {
  return spread.framework == Framework::ddp || spread.framework == Framework::fsdp;
}

/// Time and cost of the row's plan, and its merits.
void add_time(LayoutRow& row) {
  const ComputeFigures figures = compute_figures(row.plan);
  row.mfu = figures.mfu;
  row.step_seconds = figures.step_seconds;
  row.tokens_per_second = figures.tokens_per_second;
  row.days = figures.days;
  row.gpu_hours = figures.gpu_hours;
  row.usd = figures.usd;
  const double seconds = row.tokens_per_second ? 1 / *row.tokens_per_second : 0;
  row.merits = {static_cast<double>(row.device_bytes), seconds, seconds * row.plan.gpus * row.plan.price};
}

void add_memory(LayoutRow& row, const TrainingTotals& need) {
  row.verdict = need.verdict;
  row.device_bytes = need.device_bytes;
  row.band_bytes = need.band_bytes;
  row.headroom_bytes = need.headroom_bytes;
  row.merits[0] = static_cast<double>(need.device_bytes);
}

/// By what the question asks first, then the other merits.
bool better(Question question, const LayoutRow& a, const LayoutRow& b) {
  const auto key = [question](const LayoutRow& row) {
    const auto& [memory, seconds, usd] = row.merits;
    const double gpus = row.plan.gpus;
    if (question == Question::fewest_gpus) return std::array{gpus, seconds, usd, memory};
    if (question == Question::cheapest) return std::array{usd, seconds, memory, gpus};
    return std::array{seconds, usd, memory, gpus};
  };
  return key(a) < key(b);
}

}  // namespace

LayoutSearch::LayoutSearch(const Plan& plan)
    : question_(plan.question), own_batch_(!plan.has(Key::global_batch)), kinds_(kinds_among(plan)) {
  const bool limited = plan.deadline > 0 || plan.budget > 0;
  free_count_ = question_ == Question::fewest_gpus || (limited && !plan.has(Key::gpus));
  scouting_ = question_ == Question::longest_seq || question_ == Question::largest_batch;
  deadline_ = plan.deadline;
  budget_ = plan.budget;
  for (Plan& kind : kinds_) {
    for (const Key key : {Key::mfu, Key::measured_tokens_per_second, Key::stages})
      kind.given.reset(static_cast<size_t>(key));
    resolve(kind);
  }
  if (!scouting_) best_of_.set_kinds(kinds_.size());
  kind_ = kinds_.size();
  next_round();
}

/// The first kind of GPU, or the next.
bool LayoutSearch::next_round() {
  if (kind_ + 1 >= kinds_.size() && kind_ < kinds_.size()) {
    if (!scouting_ || found_ == 0) return false;
    scouting_ = false;
    kind_ = 0;
  } else {
    kind_ = kind_ < kinds_.size() ? kind_ + 1 : 0;
  }
  counts_ = free_count_ ? gpu_counts(kinds_[kind_]) : std::vector<double>{kinds_[kind_].gpus};
  leave_out_hopeless_counts();
  count_ = 0;
  first_count_ = 0;
  begin_round();
  return true;
}

/// Numbers of GPUs that miss the deadline even at their peak.
void LayoutSearch::leave_out_hopeless_counts() {
  if (deadline_ <= 0 || !free_count_) return;
  Plan ideal = kinds_[kind_];
  for (const auto& [key, value] : {std::pair{Key::mfu, "1"}, {Key::goodput, "1"}})
    set_value(ideal, key, value, nullptr);
  const ComputeFigures figures = compute_figures(ideal);
  if (!figures.gpu_hours) return;
  const double fewest = *figures.gpu_hours / 24 / deadline_;
  std::erase_if(counts_, [&](double count) { return count < fewest && count < counts_.back(); });
}

/// The next number of GPUs worth trying on this kind.
bool LayoutSearch::next_count() {
  if (fitting_ > 0 && first_count_ == 0) first_count_ = counts_[count_];
  if (first_count_ > 0 && question_ == Question::fewest_gpus) return false;
  if (++count_ >= counts_.size()) return false;
  if (first_count_ > 0 && counts_[count_] > kRoomAboveFewest * first_count_) return false;
  begin_round();
  return true;
}

void LayoutSearch::begin_round() {
  Plan& plan = kinds_[kind_];
  const auto give = [&plan](Key key, double& member, double value) {
    member = value;
    plan.given.set(static_cast<size_t>(key));
  };
  give(Key::gpus, plan.gpus, counts_[count_]);
  if (own_batch_) give(Key::global_batch, plan.global_batch, compared_global_batch(plan));
  if (question_ == Question::longest_seq) {
    const double most = plan.max_positions >= kSequenceStep ? plan.max_positions : kMostTokens;
    give(Key::seq, plan.seq, scouting_ ? most : found_);
  }
  resolve(plan);
  spreads_ = spreads(plan);
  std::reverse(spreads_.begin(), spreads_.end());  // good rows early spare the bills of what they cover
  next_spread_ = 0;
  fitting_ = 0;
}

double LayoutSearch::progress() const {
  return spreads_.empty() ? 1 : static_cast<double>(next_spread_) / static_cast<double>(spreads_.size());
}

/// The page draws between two steps: one spread and recomputation is the least that is done at once.
bool LayoutSearch::step(size_t layouts) {
  const size_t until = tried_ + layouts;
  while (tried_ < until) {
    if (next_spread_ < spreads_.size()) {
      try_row();
    } else if (!next_count() && !next_round()) {
      return false;
    }
  }
  return true;
}

std::vector<double> LayoutSearch::sizes_of(const Spread& spread) const {
  if (question_ == Question::largest_batch) return {found_};
  return micro_batch_sizes(kinds_[kind_], spread, kMostMicroBatch);
}

/// The next spread's sizes and least memory. False: nothing of it is left to try.
bool LayoutSearch::begin_spread(const Spread& spread) {
  row_ = {sizes_of(spread), {}, 0};
  if (row_.sizes.empty()) return false;
  const TrainingBill leanest = training_bill(laid_out({spread, kRecompute[0], row_.sizes.front()}));
  row_.leanest = leanest;
  row_.state_bytes = state_bytes(leanest);
  if (row_.state_bytes <= leanest.capacity_bytes + leanest.band_bytes) return true;
  const size_t all = std::size(kRecompute) * row_.sizes.size();
  tried_ += all;
  note_lack(leanest);
  drop(states, all);
  return false;
}

/// The next recomputation of the present spread.
void LayoutSearch::try_row() {
  const Spread& spread = spreads_[next_spread_];
  const bool gone = next_recompute_ == 0 && !scouting_ && !begin_spread(spread);
  if (!gone && scouting_) scout(spread, kRecompute[next_recompute_]);
  if (!gone && !scouting_) try_sizes(spread, kRecompute[next_recompute_]);
  if (gone || ++next_recompute_ == std::size(kRecompute)) {
    next_recompute_ = 0;
    ++next_spread_;
  }
}

/// Micro-batches of one spread and recomputation, ascending: the first that exceeds ends the row.
void LayoutSearch::try_sizes(const Spread& spread, Recompute recompute) {
  const std::vector<double>& sizes = row_.sizes;
  const bool exception = frees_gradients(spread);  // the last is tried whatever those before it take
  uint64_t least_bytes = row_.state_bytes;
  tried_ += sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool known = recompute == kRecompute[0] && i == 0;
    if (try_layout(laid_out({spread, recompute, sizes[i]}), &least_bytes, known ? &row_.leanest : nullptr)) continue;
    const size_t last = sizes.size() - 1, next = exception ? last : sizes.size();
    if (i >= last) return;
    drop(memory, next - i - 1);
    least_bytes = 0;
    i = next - 1;
  }
}

/// False: it takes too much memory. The time, a fiftieth of the work of a bill, may spare the bill: where a layout of
/// `least_bytes` as slow as that would not become a row. `known`: its totals, where they are worked out already.
bool LayoutSearch::try_layout(Plan plan, uint64_t* least_bytes, const TrainingTotals* known) {
  if (!training_faults(plan).empty()) return drop(illegal, 1), true;
  LayoutRow row;
  row.plan = std::move(plan);
  row.device_bytes = *least_bytes;
  add_time(row);
  const bool late = deadline_ > 0 && !(row.days && *row.days <= deadline_);
  const bool dear = budget_ > 0 && !(row.usd && *row.usd <= budget_);
  if (late || dear) return note_miss(std::move(row)), drop(late ? deadline : budget, 1), true;
  if (fitting_ > 0 && !fitting_rows_.wants(row.merits) && !leads_its_kind(row)) return ++kept_, true;
  const TrainingTotals need = known != nullptr ? *known : training_totals(row.plan);
  if (need.verdict == Verdict::invalid) return drop(illegal, 1), true;
  *least_bytes = need.device_bytes;
  if (need.verdict == Verdict::exceeds) return note_lack(need), drop(memory, 1), false;
  if (need.host_verdict == Verdict::exceeds) return drop(host, 1), true;
  keep_row(std::move(row), need);
  return true;
}

Plan LayoutSearch::laid_out(const Layout& layout) const {
  Plan plan = kinds_[kind_];
  if (own_batch_ && question_ == Question::largest_batch) {
    const Spread& s = layout.spread;
    const double pipelines = s.pp > 1 ? kMicroBatchesAStage * s.pp : 1;
    plan.global_batch = layout.micro_batch * pipelines * plan.gpus / (s.tp * s.pp * s.cp);
  }
  lay_out(layout, plan);
  return plan;
}

void LayoutSearch::note_lack(const TrainingTotals& need) { nearest_ = std::max(nearest_, need.headroom_bytes); }

/// Only what comes nearer than the last one that fits is billed.
void LayoutSearch::note_miss(LayoutRow row) {
  if (!row.days || (budget_ > 0 && !row.usd)) return;
  const double miss = std::max(deadline_ > 0 ? *row.days / deadline_ : 0, budget_ > 0 ? *row.usd / budget_ : 0);
  if (kept_ > 0 || (missed_ && miss >= least_miss_)) return;
  const TrainingTotals need = training_totals(row.plan);
  if (!holds(row.plan, need) || need.host_verdict == Verdict::exceeds) return;
  add_memory(row, need);
  missed_ = std::move(row);
  least_miss_ = miss;
}

/// Better than the best row of the present kind of GPU, where each kind has one.
bool LayoutSearch::leads_its_kind(const LayoutRow& row) const {
  return best_of_.wants(kind_, [&](const LayoutRow& best) { return better(question_, row, best); });
}

void LayoutSearch::keep_row(LayoutRow row, const TrainingTotals& need) {
  add_memory(row, need);
  const bool sure = holds(row.plan, need);
  if (sure) ++fitting_;
  if (sure && leads_its_kind(row)) best_of_.set(kind_, row);
  ++kept_;
  ParetoSet<LayoutRow>& rows = sure ? fitting_rows_ : tight_rows_;
  if (rows.wants(row.merits)) rows.add(std::move(row));
}

/// Does this layout go beyond what was found so far, and how far?
void LayoutSearch::scout(const Spread& spread, Recompute recompute) {
  ++tried_;
  drop(less, 1);
  found_ = question_ == Question::longest_seq ? longest(spread, recompute) : most_sequences(spread, recompute);
}

double LayoutSearch::longest(const Spread& spread, Recompute recompute) {
  const double chunk = (spread.cp > 1 ? 2 * spread.cp : 1) * spread.tp;
  const double unit = std::ceil(kSequenceStep / chunk) * chunk;
  Plan plan = laid_out({spread, recompute, 1});
  const double shortest = spread.cp > 1 ? spread.cp * kFewestTokensARank : unit;
  const double least = std::max(std::floor(found_ / unit), std::ceil(shortest / unit) - 1);
  const double units = largest_that(least, std::floor(kinds_[kind_].seq / unit), [&](double count) {
    plan.seq = count * unit;
    resolve(plan);
    return fits(plan);
  });
  return units > least ? units * unit : found_;
}

double LayoutSearch::most_sequences(const Spread& spread, Recompute recompute) {
  const Plan& kind = kinds_[kind_];
  std::vector<double> sizes(static_cast<size_t>(kMostSequences));
  std::iota(sizes.begin(), sizes.end(), 1);
  if (!own_batch_) sizes = micro_batch_sizes(kind, spread, kMostSequences);
  const auto known = std::upper_bound(sizes.begin(), sizes.end(), found_);
  const double least = static_cast<double>(known - sizes.begin());
  const auto fits_with = [&](double n) {
    return fits(laid_out({spread, recompute, sizes[static_cast<size_t>(n) - 1]}));
  };
  const auto most = static_cast<double>(sizes.size());
  const bool exception = !own_batch_ && frees_gradients(spread) && least < most && fits_with(most);
  const double count = exception ? most : largest_that(least, most, fits_with);
  return count > least ? sizes[static_cast<size_t>(count) - 1] : found_;
}

namespace {

constexpr const char* kReasons[] = {"impossible: sizes do not divide",
                                    "weights, gradients and optimizer states alone are too large",
                                    "too much memory",
                                    "too much host memory",
                                    "too slow for the deadline, or its time is unknown",
                                    "too dear for the budget, or its cost is unknown",
                                    "hold less than the best",
                                    "another one is as small, as fast and as cheap, or within 1% of it"};

/// Rows that are no more than 1% better than one before them, anywhere, tell nothing new.
template <class Row>
void leave_out_alike(std::vector<Row>& rows) {
  constexpr double kAlike = 1.01;
  std::vector<Row> kept;
  for (Row& row : rows) {
    const bool alike = std::any_of(kept.begin(), kept.end(), [&](const Row& other) {
      for (size_t i = 0; i < row.merits.size(); ++i) {
        if (other.merits[i] > row.merits[i] * kAlike) return false;
      }
      return true;
    });
    if (!alike) kept.push_back(std::move(row));
  }
  rows = std::move(kept);
}

}  // namespace

void LayoutSearch::finish(Answer& answer) const {
  answer.tried = tried_;
  answer.layouts = (fitting_rows_.empty() ? tight_rows_ : fitting_rows_).rows();
  const auto in_order = [this](const LayoutRow& a, const LayoutRow& b) { return better(question_, a, b); };
  std::stable_sort(answer.layouts.begin(), answer.layouts.end(), in_order);
  leave_out_alike(answer.layouts);
  answer.layouts_by_gpu = best_of_.rows(in_order);
  answer.gpus_without = best_of_.without(kinds_);
  std::array<size_t, reasons> fell_out = fell_out_;
  fell_out[beaten] = kept_ - answer.layouts.size();
  for (size_t i = 0; i < reasons; ++i) {
    if (fell_out[i] > 0) answer.fell_out.push_back({kReasons[i], fell_out[i]});
  }
  if (found_ > 0) answer.found = found_;
  if (question_ == Question::fewest_gpus && !answer.layouts.empty()) answer.found = answer.layouts.front().plan.gpus;
  if (!answer.layouts.empty()) return;
  answer.nearest_layout = missed_;
  if (!missed_ && nearest_ < 0 && nearest_ != INT64_MIN) answer.lacking_bytes = static_cast<uint64_t>(-nearest_);
}

}  // namespace vram
