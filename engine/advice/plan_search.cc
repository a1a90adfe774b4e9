#include "engine/advice/plan_search.h"

#include "engine/advice/limits.h"
#include "engine/advice/question.h"

namespace vram {
namespace {

using Either = std::variant<LayoutSearch, DeploymentSearch>;

Either search_of(const Plan& plan) {
  if (asks_about_serving(plan)) return Either(std::in_place_type<DeploymentSearch>, plan);
  return Either(std::in_place_type<LayoutSearch>, plan);
}

}  // namespace

PlanSearch::PlanSearch(const Plan& plan) : plan_(plan), search_(search_of(plan)) {}

bool PlanSearch::step_search(size_t layouts) {
  return std::visit([layouts](auto& search) { return search.step(layouts); }, search_);
}

bool PlanSearch::step(size_t layouts) {
  const bool serving = std::holds_alternative<DeploymentSearch>(search_);
  switch (part_) {
    case Part::layouts:
      if (!step_search(layouts)) part_ = Part::limits;
      break;
    case Part::limits:
      limits_ = serving ? serving_limits(plan_) : training_limits(plan_);
      part_ = Part::switches;
      break;
    case Part::switches:
      switches_ = serving ? serving_switches(plan_) : training_switches(plan_);
      part_ = Part::done;
      break;
    case Part::done:
      break;
  }
  return part_ != Part::done;
}

size_t PlanSearch::tried() const {
  return std::visit([](const auto& search) { return search.tried(); }, search_);
}

double PlanSearch::progress() const {
  return std::visit([](const auto& search) { return search.progress(); }, search_);
}

Answer PlanSearch::answer() const {
  Answer answer;
  answer.question = plan_.question;
  std::visit([&](const auto& search) { search.finish(answer); }, search_);
  answer.limits = limits_;
  answer.switches = switches_;
  answer.messages = question_messages(plan_);
  return answer;
}

Answer answer_question(const Plan& plan) {
  PlanSearch search(plan);
  while (search.step(10000)) {
  }
  return search.answer();
}

}  // namespace vram
