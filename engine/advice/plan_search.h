#pragma once

#include <optional>
#include <variant>

#include "engine/advice/deployment_search.h"
#include "engine/advice/layout_search.h"

namespace vram {

/// `question` answered in slices, so that a page can show how far it is, and stop: first the layouts or deployments,
/// then the limits of the plan at hand, then what each switch is worth.
class PlanSearch {
 public:
  /// `plan` with its subject and accelerator, which must not be null.
  explicit PlanSearch(const Plan& plan);

  /// Tries some more layouts, or works out the next part. False: all is done.
  bool step(size_t layouts);
  size_t tried() const;
  double progress() const;
  /// What is known now; all of it once `step` has answered false.
  Answer answer() const;

 private:
  enum class Part : uint8_t { layouts, limits, switches, done };

  bool step_search(size_t layouts);

  Plan plan_;
  std::variant<LayoutSearch, DeploymentSearch> search_;
  Part part_ = Part::layouts;
  std::vector<Limit> limits_;
  std::vector<Switch> switches_;
};

/// All of it at once.
Answer answer_question(const Plan& plan);

}  // namespace vram
