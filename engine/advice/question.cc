#include "engine/advice/question.h"

#include <algorithm>

#include "engine/plan/fault_list.h"
#include "engine/plan/texts.h"

namespace vram {
namespace {

constexpr double kMostGpus = 65536;
constexpr Key kOfTheGpu[] = {Key::gpu_mem,  Key::gpu_tflops, Key::gpu_bw, Key::link_bw, Key::net_bw,
                             Key::host_mem, Key::price,      Key::watts,  Key::node};
constexpr Key kAsked[] = {Key::question, Key::deadline, Key::budget, Key::gpus_among};

void forget(Plan& plan, Key key) { plan.given.reset(static_cast<size_t>(key)); }

bool gives_any(const Plan& plan, Group group) {
  return std::any_of(fields().begin(), fields().end(),
                     [&](const Field& row) { return row.group == group && plan.has(row.key); });
}

}  // namespace

bool asks_about_serving(const Plan& plan) {
  switch (plan.question) {
    case Question::concurrency:
    case Question::context:
    case Question::replicas:
    case Question::serve_fastest:
    case Question::serve_cheapest:
      return true;
    case Question::longest_seq:
    case Question::largest_batch:
      return false;
    default:
      break;
  }
  if (plan.view == View::serve) return true;
  const bool of_training = gives_any(plan, Group::training) || plan.has(Key::gpus) || plan.has(Key::deadline);
  return gives_any(plan, Group::serving) && !of_training;
}

Question without_side(Question question) {
  if (question == Question::serve_fastest) return Question::fastest;
  return question == Question::serve_cheapest ? Question::cheapest : question;
}

std::vector<Plan> kinds_among(const Plan& plan) {
  Plan own = plan;
  for (const Key key : kAsked) forget(own, key);
  resolve(own);
  std::vector<Plan> kinds;
  if (plan.has(Key::gpus_among)) {
    for (const std::string_view id : gpus_of_list(plan.gpus_among)) {
      Plan kind = own;
      if (id != plan.gpu) {
        for (const Key key : kOfTheGpu) forget(kind, key);
      }
      if (set_value(kind, Key::gpu, id, nullptr) && kind.accelerator != nullptr) kinds.push_back(std::move(kind));
    }
  }
  if (kinds.empty()) kinds.push_back(std::move(own));
  return kinds;
}

std::vector<Message> question_messages(const Plan& plan) {
  std::vector<Message> messages;
  if (asks_about_serving(plan) || plan.tokens > 0 || plan.dataset > 0) return messages;
  for (const Key key : {Key::deadline, Key::budget}) {
    if (!plan.has(key)) continue;
    const std::string name(field(key).name);
    messages.push_back(
        {name, value_text(plan, key), name + ": without tokens (or dataset) a run has no end and no cost"});
  }
  return messages;
}

std::vector<double> gpu_counts(const Plan& plan) {
  std::vector<double> counts;
  const double node = std::max(1.0, plan.node);
  for (double count = 1; count < node; ++count) {
    if (divides(count, node)) counts.push_back(count);
  }
  for (double octave = 1; octave * node <= kMostGpus; octave *= 2) {
    for (const double quarter : {4.0, 5.0, 6.0, 7.0}) {
      if (divides(4, octave * quarter)) counts.push_back(octave * quarter / 4 * node);
    }
  }
  return counts;
}

}  // namespace vram
