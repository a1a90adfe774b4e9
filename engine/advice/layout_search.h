#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/advice/answer.h"
#include "engine/advice/best_of_kinds.h"
#include "engine/advice/layouts.h"

namespace vram {

/// The layouts of a training job, tried in slices: memory first, and the time only of what fits.
///
/// Of one spread the leanest layout goes first: where its weights, gradients and optimizer states alone do not fit,
/// none of the spread does. A larger micro-batch never takes less, so that the first that exceeds ends its row.
class LayoutSearch {
 public:
  explicit LayoutSearch(const Plan& plan);

  /// Tries some `layouts` more. False: all are tried, and `finish` may be asked.
  bool step(size_t layouts);
  size_t tried() const { return tried_; }
  /// Of the present round, 0 to 1.
  double progress() const;
  /// Rows, best first; what was found; why the others fell out.
  void finish(Answer& answer) const;

 private:
  enum Reason : uint8_t { illegal, states, memory, host, deadline, budget, less, beaten, reasons };

  bool next_round();
  void leave_out_hopeless_counts();
  bool next_count();
  void begin_round();
  bool begin_spread(const Spread& spread);
  void try_row();
  void try_sizes(const Spread& spread, Recompute recompute);
  bool try_layout(Plan plan, uint64_t* least_bytes, const TrainingTotals* known);
  void scout(const Spread& spread, Recompute recompute);
  double most_sequences(const Spread& spread, Recompute recompute);
  double longest(const Spread& spread, Recompute recompute);
  Plan laid_out(const Layout& layout) const;
  void keep_row(LayoutRow row, const TrainingTotals& need);
  void note_lack(const TrainingTotals& need);
  void note_miss(LayoutRow row);
  bool leads_its_kind(const LayoutRow& row) const;
  std::vector<double> sizes_of(const Spread& spread) const;
  void drop(Reason reason, size_t count) { fell_out_[reason] += count; }

  Question question_;
  bool own_batch_ = false;   // the plan gives no global batch
  bool free_count_ = false;  // the number of GPUs is part of the answer
  bool scouting_ = false;    // the longest sequence or the largest micro-batch is looked for; rows come after it
  std::vector<Plan> kinds_;  // the plan on each kind of GPU
  size_t kind_ = 0;
  std::vector<double> counts_;  // of GPUs, on the present kind
  size_t count_ = 0;
  double first_count_ = 0;  // the fewest GPUs of this kind that do
  std::vector<Spread> spreads_;
  size_t next_spread_ = 0, next_recompute_ = 0;
  struct Row {
    std::vector<double> sizes;  // micro-batches
    TrainingTotals leanest;     // of the smallest, all recomputed
    uint64_t state_bytes = 0;   // what each takes at least
  };
  Row row_;             // of the present spread
  size_t fitting_ = 0;  // layouts of the present count
  double found_ = 0;    // tokens or sequences
  double deadline_ = 0, budget_ = 0;
  ParetoSet<LayoutRow> fitting_rows_, tight_rows_;
  BestOfKinds<LayoutRow> best_of_;
  int64_t nearest_ = INT64_MIN;      // headroom of the layout that lacks least
  std::optional<LayoutRow> missed_;  // fits, and misses the deadline or the budget least
  double least_miss_ = 0;            // by this factor
  std::array<size_t, reasons> fell_out_{};
  size_t tried_ = 0, kept_ = 0;
};

}  // namespace vram
