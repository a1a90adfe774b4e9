#include <string>

#include "engine/plan/fault_list.h"
#include "engine/units.h"

namespace vram {
namespace {

std::string n(double value) { return write_number(value); }

void check_gpus(FaultList& list) {
  const Plan& p = list.plan;
  const double product = p.serve_tp * p.serve_pp * p.serve_dp;
  list.add_if(product != p.serve_gpus, Key::serve_gpus, [&] {
    return n(p.serve_gpus) + " GPUs are not serve_tp " + n(p.serve_tp) + " × serve_pp " + n(p.serve_pp) +
           " × serve_dp " + n(p.serve_dp) + " = " + n(product);
  });
  list.add_if(p.layers > 0 && p.serve_pp > p.layers, Key::serve_pp,
              [&] { return n(p.serve_pp) + " stages are more than " + n(p.layers) + " layers"; });
}

void check_experts(FaultList& list) {
  const Plan& p = list.plan;
  if (p.serve_ep == 1) return;
  if (p.experts < 1)
    return list.add(Key::serve_ep, "the model has no experts to spread over " + n(p.serve_ep) + " GPUs");
  list.add_if(!divides(p.serve_ep, p.experts), Key::serve_ep,
              [&] { return n(p.experts) + " experts cannot be divided over " + n(p.serve_ep) + " GPUs"; });
  const double ranks = p.serve_tp * p.serve_dp;
  list.add_if(!divides(p.serve_ep, ranks), Key::serve_ep,
              [&] { return "groups of " + n(p.serve_ep) + " do not divide the " + n(ranks) + " GPUs of a stage"; });
}

void check_requests(FaultList& list) {
  const Plan& p = list.plan;
  list.add_if(p.prefix > p.prompt, Key::prefix, [&] {
    return "a shared prefix of " + n(p.prefix) + " tokens is longer than the prompt of " + n(p.prompt);
  });
}

}  // namespace

std::vector<Message> serving_faults(const Plan& plan) {
  FaultList list{plan, {}};
  check_gpus(list);
  // Experts spread over serve_ep are divided by what tensor parallel is left within a group of it.
  const double ranks = plan.serve_tp * plan.serve_dp;
  const double expert_tp = divides(plan.serve_ep, ranks) ? ranks / plan.serve_ep : 1;
  check_tensor_split(list, Key::serve_tp, plan.serve_tp, Key::serve_tp, plan.serve_ep > 1 ? expert_tp : plan.serve_tp);
  check_experts(list);
  check_requests(list);
  return list.faults;
}

}  // namespace vram
