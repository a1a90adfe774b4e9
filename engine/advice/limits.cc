#include "engine/advice/limits.h"

#include <algorithm>
#include <cmath>

#include "engine/largest.h"
#include "engine/units.h"

namespace vram {
namespace {

constexpr double kMostSequences = 4096, kMostTokens = 16.0 * 1024 * 1024, kMostRanks = 65536;
constexpr double kSequenceStep = 128;

struct Setting {
  Key key;
  double value;
};

/// Does the plan fit with these values? The global batch follows its default where none is given.
bool fits_with(const Plan& plan, std::initializer_list<Setting> settings) {
  Plan changed = plan;
  for (const Setting& setting : settings) {
    if (!set_value(changed, setting.key, write_number(setting.value), nullptr)) return false;
  }
  const TrainingTotals bill = training_totals(changed);
  return bill.verdict == Verdict::fits ||
         (!plan.subject->has_shape && bill.verdict == Verdict::tight && bill.headroom_bytes >= 0);
}

/// Sequences of a step that this micro-batch divides: those of the plan, raised to a whole number of micro-batches.
double batch_for(const Plan& plan, double micro_batch) {
  const double step = micro_batch * plan.dp();
  return std::max(1.0, std::ceil(plan.global_batch / step)) * step;
}

Limit limit(const char* id, double value, std::string text, std::string change) {
  return {id, std::move(text), value, std::move(change)};
}

Limit micro_batch_limit(const Plan& plan) {
  const double most = largest_that(0, kMostSequences, [&](double size) {
    return fits_with(plan, {{Key::micro_batch, size}, {Key::global_batch, batch_for(plan, size)}});
  });
  if (most == 0) return limit("largest_batch", 0, "With this layout not even one sequence at a time fits.", "");
  return limit("largest_batch", most,
               "With this layout micro-batches of up to " + show_grouped(most) +
                   (most == 1 ? " sequence fit." : " sequences fit."),
               "micro_batch=" + write_number(most) + "&global_batch=" + write_number(batch_for(plan, most)));
}

Limit sequence_limit(const Plan& plan) {
  const double chunk = (plan.cp > 1 ? 2 * plan.cp : 1) * (plan.sp ? plan.tp : 1);
  const double unit = std::ceil(kSequenceStep / chunk) * chunk;
  const bool limited = plan.max_positions >= unit;
  const double most_units = std::floor((limited ? plan.max_positions : kMostTokens) / unit);
  const double units = largest_that(0, most_units, [&](double count) {
    return fits_with(plan, {{Key::seq, count * unit}});
  });
  const double tokens = units * unit;
  if (units == 0)
    return limit("longest_seq", 0, "With this layout no sequence fits, not even " + show_grouped(unit) + " tokens.",
                 "");
  std::string text = "With this layout sequences of up to " + show_grouped(tokens) + " tokens fit";
  text += limited && units == most_units ? ", all that the model was made for." : ".";
  return limit("longest_seq", tokens, std::move(text), "seq=" + write_number(tokens));
}

/// More data-parallel ranks never take more of a GPU; where they do not divide the batch, the batch follows.
Limit gpus_limit(const Plan& plan) {
  const double copy = plan.tp * plan.pp * plan.cp * (plan.ep > 1 ? plan.ep : 1);
  const auto with_ranks = [&](double ranks) {
    const double gpus = ranks * copy, step = plan.micro_batch * gpus / (plan.tp * plan.pp * plan.cp);
    const double batch = std::max(1.0, std::round(plan.global_batch / step)) * step;
    return std::pair{gpus, batch};
  };
  for (double ranks = 1; ranks <= kMostRanks; ranks *= 2) {
    const auto [gpus, batch] = with_ranks(ranks);
    if (!fits_with(plan, {{Key::gpus, gpus}, {Key::global_batch, batch}})) continue;
    const double fewest = ranks - largest_that(0, ranks / 2, [&](double fewer) {
                            const auto [g, b] = with_ranks(ranks - fewer);
                            return fits_with(plan, {{Key::gpus, g}, {Key::global_batch, b}});
                          });
    const auto [least, sequences] = with_ranks(fewest);
    return limit("fewest_gpus", least,
                 "With this layout " + show_grouped(least) + (least == 1 ? " GPU does." : " GPUs are enough."),
                 "gpus=" + write_number(least) + "&global_batch=" + write_number(sequences));
  }
  return limit("fewest_gpus", 0, "With this layout no number of GPUs is enough.", "");
}

}  // namespace

std::vector<Limit> training_limits(const Plan& plan) {
  if (!training_faults(plan).empty()) return {};
  return {gpus_limit(plan), micro_batch_limit(plan), sequence_limit(plan)};
}

std::vector<Limit> serving_limits(const Plan& plan) {
  std::vector<Limit> limits;
  const ServingBill bill = serving_bill(plan);
  if (bill.promised_concurrency) {
    const double requests = std::floor(*bill.promised_concurrency);
    limits.push_back(limit("concurrency", requests,
                           "This replica can promise " +
                               (requests == 0 ? "no request" : counted(requests, "request", "requests")) + " of " +
                               show_grouped(plan.prompt + plan.output) + " tokens at a time.",
                           requests >= 1 ? "concurrency=" + write_number(requests) : ""));
  }
  if (bill.longest_context) {
    const double tokens = std::floor(*bill.longest_context);
    const std::string requests = counted(plan.concurrency, "request", "requests") + " at a time ";
    limits.push_back(limit("context", tokens,
                           tokens == 0
                               ? "Not one token of " + requests + "fits."
                               : requests + "can be up to " + show_grouped(tokens) + " tokens long, without reserve.",
                           ""));
  }
  return limits;
}

}  // namespace vram
