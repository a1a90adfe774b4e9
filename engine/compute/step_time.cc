#include "engine/compute/step_time.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/compute/achieved.h"
#include "engine/compute/rates.h"
#include "engine/compute/traffic.h"
#include "engine/training/training.h"

namespace vram {
namespace {

/// Time of the slowest stage over that of a mean one. The last stage has the head, worth `head` layers. Where `stages`
/// does not say how many layers each has, the last one gets as few as makes the slowest fastest.
double slowest_stage(const Plan& plan, double head) {
  const double layers = static_cast<double>(plan.subject->layers.size()), mean = (layers + head) / plan.pp;
  if (plan.pp <= 1 || layers < plan.pp) return 1;
  double slowest = 0;
  if (plan.has(Key::stages)) {
    const std::vector<double> stages = stage_layers(plan);
    for (double each : stages) slowest = std::max(slowest, each);
    slowest = std::max(slowest, stages.empty() ? 0 : stages.back() + head);
  } else {
    slowest = layers;
    for (double last = std::ceil(layers / plan.pp); last >= 1; --last) {
      const double others = std::ceil((layers - last) / (plan.pp - 1));
      slowest = std::min(slowest, std::max(last + head, others));
      if (others > last + head) break;
    }
  }
  return std::max(1.0, slowest / mean);
}

double slowest_stage(const Plan& plan, const MicroBatchWork& work) {
  const double layers = work.total() - work.head;  // of a mean stage
  return layers > 0 ? slowest_stage(plan, work.head / layers * static_cast<double>(plan.subject->layers.size())) : 1;
}

/// A parameter's step reads its gradient and reads and writes its states; unfused optimizers go through them several
/// times (torch.optim.AdamW, foreach: ten kernels).
double optimizer_seconds(const Plan& plan, const Rates& rates) {
  const double shards = plan.tp * plan.pp * (plan.zero >= 1 ? plan.dense_shards() : 1);
  const double parameters = trained_parameters(plan) / shards;
  const bool on_host = plan.offload == Offload::optimizer || plan.offload == Offload::all;
  const double hosted = on_host ? plan.offload_fraction : 0;
  const double a_node = std::min(plan.node, plan.gpus);
  const double bytes = plan.fused_optimizer ? 30 : 90;
  const double here = rates.memory > 0 ? parameters * (1 - hosted) * bytes / rates.memory : 0;
  return here + parameters * hosted * a_node * kHostAdamSeconds;
}

bool once_a_step(const Traffic& one) {
  return std::string_view(one.line.id).substr(0, 2) == "dp" || std::string_view(one.line.id) == "offload";
}

}  // namespace

double doublings(double value) {
  double count = 0;
  for (; value >= 2; value /= 2) ++count;
  return value > 1 ? count + (value - 1) : count;
}

double bubble_overhead(const Plan& plan) {
  const double micro_batches = plan.micro_batches();
  if (plan.pp <= 1 || !(micro_batches > 0)) return 0;
  const double idle = (plan.pp - 1) / (micro_batches * std::max(1.0, plan.vpp));  // arXiv 2104.04473, section 2.2
  if (plan.schedule == Schedule::zerobubble) return idle / 3;  // ZB-H1, arXiv 2401.10241 section 2: a third of 1F1B's
  if (plan.schedule == Schedule::dualpipe) return idle / 2;    // arXiv 2412.19437 Table 2: (p/2 - 1) chunks
  return idle;
}

StepSeconds step_seconds(Sheet& sheet, const Plan& plan, std::vector<Traffic>& traffic) {
  const Rates rates = rates_of(plan);
  const MicroBatchWork work = micro_batch_work(plan, rates);
  traffic = step_traffic(sheet, plan, work);
  StepSeconds step;
  if (!(rates.matrix > 0) || !(plan.micro_batches() > 0)) return step;
  const double times = plan.micro_batches();
  const double late = 1 + kLostPerDoubling * doublings(plan.gpus / 8);
  step.matrices = times * late * (work.forward.matrices + work.backward.matrices + work.repeated.matrices);
  step.attention = times * late * (work.forward.attention + work.backward.attention + work.repeated.attention);
  step.memory = times * late * (work.forward.memory + work.backward.memory + work.repeated.memory);
  step.host = times * std::max(0.0, work.host - work.total());
  double every_micro_batch = 0;
  for (const Traffic& one : traffic) {
    double& seconds = std::string_view(one.link) == "network" ? step.network : step.link;
    seconds += one.exposed_seconds;
    if (!once_a_step(one)) every_micro_batch += one.exposed_seconds;
  }
  const double busy = step.matrices + step.attention + step.memory + step.host + every_micro_batch;
  step.bubble = busy * (slowest_stage(plan, work) * (1 + bubble_overhead(plan)) - 1);
  step.optimizer = optimizer_seconds(plan, rates);
  return step;
}

}  // namespace vram
