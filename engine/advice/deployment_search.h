#pragma once

#include <array>
#include <vector>

#include "engine/advice/answer.h"
#include "engine/advice/best_of_kinds.h"
#include "engine/advice/deployments.h"

namespace vram {

/// The deployments of a server, tried in slices. Each gets the load that the question names:
/// - fit, fastest: the plan's own requests and replicas;
/// - replicas, fewest-gpus, cheapest: as many replicas as `qps` (without it, `concurrency` x `replicas`) takes, each
///   with as many requests as may be promised within `tpot`;
/// - concurrency: as many requests as may be promised; context: the longest prompt beside `output`.
class DeploymentSearch {
 public:
  explicit DeploymentSearch(const Plan& plan);

  bool step(size_t deployments);
  size_t tried() const { return tried_; }
  double progress() const;
  void finish(Answer& answer) const;

 private:
  enum Reason : uint8_t { illegal, weights, room, slow_token, slow_prompt, slow_rate, speed, beaten, reasons };

  void next_kind();
  void try_one(const Deployment& deployment);
  bool load(Plan& plan, const ServingBill& bill);
  bool load_replicas(Plan& plan, double in_flight);
  bool load_context(Plan& plan);
  bool meets_targets(const DeploymentRow& row);
  DeploymentRow row_of(Plan plan, const ServingBill& bill) const;
  void keep(DeploymentRow row);
  bool drop(Reason reason);

  Question question_;
  bool fixed_ = false;  // GPUs of a replica are the plan's
  std::vector<Plan> kinds_;
  size_t kind_ = 0, next_ = 0;
  std::vector<Deployment> deployments_;
  ParetoSet<DeploymentRow> fitting_, tight_;
  BestOfKinds<DeploymentRow> best_of_;
  std::optional<DeploymentRow> missed_;  // fits, and misses the targets least
  double least_miss_ = 0;                // by this factor
  double least_lack_bytes_ = 0;          // a GPU, of what does not fit; 0 = not known
  std::array<size_t, reasons> fell_out_{};
  size_t tried_ = 0, kept_ = 0;
};

}  // namespace vram
