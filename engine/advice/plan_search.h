#pragma once

#include <optional>
#include <variant>

#include "engine/advice/deployment_search.h"
#include "engine/advice/layout_search.h"

namespace vram {

/// `question` answered in slices, so that a page can show how far it is, and stop.
class PlanSearch {
 public:
  /// `plan` with its subject and accelerator, which must not be null.
  explicit PlanSearch(const Plan& plan);

  /// Tries some more. False: all are tried.
  bool step(size_t layouts);
  size_t tried() const;
  double progress() const;
  /// What is known now; all of it once `step` has answered false.
  Answer answer() const;

 private:
  Plan plan_;
  std::variant<LayoutSearch, DeploymentSearch> search_;
};

/// All of it at once.
Answer answer_question(const Plan& plan);

}  // namespace vram
