#include "engine/advice/layouts.h"

#include <algorithm>

#include "engine/advice/change.h"
#include "engine/compute/links.h"
#include "engine/plan/fault_list.h"

namespace vram {
namespace {

constexpr double kMostStages = 64, kMostChunks = 8, kMostExpertGroups = 64;
constexpr double kSequencesAGpu = 8;

using Sizes = std::vector<double>;

Sizes divisors(double value, double most) {
  Sizes sizes;
  for (double size = 1; size <= std::min(value, most); ++size) {
    if (divides(size, value)) sizes.push_back(size);
  }
  return sizes;
}

bool splits_layers(const Plan& plan) {
  return plan.framework == Framework::megatron || plan.framework == Framework::fsdp2;
}

bool has_pipeline(const Plan& plan) { return splits_layers(plan) || plan.framework == Framework::deepspeed; }

/// Of every layer kind, heads and widths can be cut: what is left to `training_faults` is rarely more.
Sizes tensor_sizes(const Plan& plan) {
  if (!splits_layers(plan)) return {1};
  Sizes sizes = divisors(joined_gpus(plan), plan.gpus);
  std::erase_if(sizes, [&](double size) { return plan.heads > 0 && !divides(size, plan.heads); });
  return sizes;
}

Sizes stage_counts(const Plan& plan) {
  if (!has_pipeline(plan)) return {1};
  return divisors(plan.gpus, std::min(kMostStages, plan.layers > 0 ? plan.layers : 1));
}

Sizes chunk_counts(const Plan& plan, double pp) {
  const bool one = plan.framework != Framework::megatron || pp == 1 || plan.layers <= 0 ||
                   (plan.has(Key::schedule) && plan.schedule != Schedule::interleaved);
  if (one) return {1};
  Sizes sizes = {1};
  for (double vpp = 2; vpp <= kMostChunks && vpp * pp <= plan.layers; ++vpp) {
    if (divides(vpp * pp, plan.layers)) sizes.push_back(vpp);
  }
  return sizes;
}

Sizes context_sizes(const Plan& plan) {
  Sizes sizes = {1};
  if (!splits_layers(plan)) return sizes;
  for (double cp = 2; cp <= plan.gpus && plan.seq / cp >= kFewestTokensARank; cp *= 2) sizes.push_back(cp);
  return sizes;
}

Sizes expert_groups(const Plan& plan) {
  const bool spread = plan.experts > 1 && plan.framework != Framework::ddp && plan.framework != Framework::fsdp;
  return spread ? divisors(plan.experts, std::min(kMostExpertGroups, plan.gpus)) : Sizes{1};
}

Sizes zero_stages(const Plan& plan, const Spread& spread) {
  switch (spread.framework) {
    case Framework::megatron:
      return {std::max(1.0, plan.zero)};
    case Framework::fsdp:
    case Framework::fsdp2:
      return {2, 3};
    case Framework::deepspeed:
      return spread.pp > 1 ? Sizes{0, 1} : Sizes{0, 1, 2, 3};
    case Framework::ddp:
      break;
  }
  return {0};
}

/// All ranks, or those of a node where that is fewer.
Sizes sharding_groups(const Plan& plan, const Spread& spread) {
  const double ranks = plan.gpus / (spread.tp * spread.pp), near = joined_gpus(plan) / spread.tp;
  const bool hybrid = spread.framework == Framework::fsdp || spread.framework == Framework::fsdp2;
  if (hybrid && near > 1 && near < ranks && divides(near, ranks)) return {0, near};
  return {0};
}

void add_sharded(const Plan& plan, Spread spread, std::vector<Spread>& out) {
  for (const double zero : zero_stages(plan, spread)) {
    for (const double shard : sharding_groups(plan, spread)) {
      spread.zero = zero;
      spread.shard = shard;
      out.push_back(spread);
    }
  }
}

/// Of one expert: the tensor-parallel GPUs share it, or each has whole ones.
Sizes expert_tensor_sizes(const Plan& plan, const Spread& spread) {
  return plan.experts > 1 && spread.tp > 1 ? Sizes{spread.tp, 1} : Sizes{spread.tp};
}

void add_with_experts(const Plan& plan, Spread spread, std::vector<Spread>& out) {
  for (const double ep : expert_groups(plan)) {
    for (const double etp : expert_tensor_sizes(plan, spread)) {
      if (!divides(etp * ep * spread.pp, plan.gpus)) continue;
      spread.ep = ep;
      spread.etp = etp;
      add_sharded(plan, spread, out);
    }
  }
}

void add_of_framework(const Plan& plan, std::vector<Spread>& out) {
  for (const double tp : tensor_sizes(plan)) {
    for (const double pp : stage_counts(plan)) {
      for (const double cp : context_sizes(plan)) {
        if (!divides(tp * pp * cp, plan.gpus)) continue;
        for (const double vpp : chunk_counts(plan, pp)) {
          add_with_experts(plan, {plan.framework, tp, pp, vpp, cp}, out);
        }
      }
    }
  }
}

}  // namespace

double compared_global_batch(const Plan& plan) { return kSequencesAGpu * plan.gpus; }

std::vector<Spread> spreads(const Plan& plan) {
  std::vector<Spread> out;
  add_of_framework(plan, out);
  if (plan.framework == Framework::ddp && plan.gpus > 1) {
    Plan sharded = plan;
    sharded.framework = Framework::fsdp;
    add_of_framework(sharded, out);
  }
  return out;
}

std::vector<double> micro_batch_sizes(const Plan& plan, const Spread& spread, double most) {
  const double ranks = plan.gpus / (spread.tp * spread.pp * spread.cp);
  return divides(ranks, plan.global_batch) ? divisors(plan.global_batch / ranks, most) : std::vector<double>{};
}

void lay_out(const Layout& layout, Plan& plan) {
  const Spread& s = layout.spread;
  put(plan, Key::framework, plan.framework, s.framework);
  put(plan, Key::tp, plan.tp, s.tp);
  put(plan, Key::pp, plan.pp, s.pp);
  put(plan, Key::vpp, plan.vpp, s.vpp);
  put(plan, Key::cp, plan.cp, s.cp);
  put(plan, Key::ep, plan.ep, s.ep);
  put(plan, Key::etp, plan.etp, s.etp);
  put(plan, Key::zero, plan.zero, s.zero);
  put(plan, Key::shard, plan.shard, s.shard);
  put(plan, Key::micro_batch, plan.micro_batch, layout.micro_batch);
  put(plan, Key::recompute, plan.recompute, layout.recompute);
  if (s.shard == 0) plan.given.reset(static_cast<size_t>(Key::shard));
  plan.given.reset(static_cast<size_t>(Key::stages));
  if (plan.schedule == Schedule::interleaved) plan.given.reset(static_cast<size_t>(Key::schedule));
  resolve(plan);
}

}  // namespace vram
