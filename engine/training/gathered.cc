#include "engine/training/gathered.h"

#include <algorithm>

#include "engine/sheet.h"
#include "engine/training/bands.h"
#include "engine/training/states.h"
#include "engine/training/storage.h"

namespace vram {
namespace {

bool fully_sharded(const Plan& plan) {
  return plan.framework == Framework::fsdp || plan.framework == Framework::fsdp2 ||
         (plan.framework == Framework::megatron && plan.zero >= 3);
}

double gathered_bits(const Plan& plan, const ParameterGroup& group) {
  if (!trains_all(plan)) return is_quantised(plan, group) ? std::min(frozen_linear_bits(plan), 16.0) : 16;
  return 8 * compute_bytes(plan);
}

Line unit_leaf(Sheet& sheet, const Plan& plan, const ParameterGroup& group, double copies, const char* note) {
  Factors factors = count_factors(plan, group);
  if (copies != 1) factors.push_back(times("u", copies, "layers at once"));
  push_bits(gathered_bits(plan, group), "bytes each", factors);
  return sheet.leaf(group.id, group.label, std::move(factors), note, kBuffersBand);
}

/// torchtune's full recipes make embedding and head units of their own, unless they are one table
/// (custom_sharded_layers in recipes/configs): the head is then gathered for the loss alone.
bool shards_outer_apart(const Plan& plan) {
  return plan.library == Library::torchtune && trains_all(plan) && !plan.tied;
}

/// The unit around the layers: embedding, head, final norm. It stays gathered from forward to the end of backward.
Line root_unit(Sheet& sheet, const Plan& plan, const GatheredUnits& units, PhaseKind phase) {
  const bool apart = shards_outer_apart(plan);
  LineList children(sheet, units.root.size());
  for (const ParameterGroup& g : units.root)
    if (!apart || (g.linear && phase == PhaseKind::loss))
      children.push_back(
          unit_leaf(sheet, plan, g, 1, "torch.distributed.fsdp: the root module is not resharded after forward"));
  return sheet.sum("root", "Embedding and head", children);
}

/// The layer that computes and the one that is prefetched; in the loss backward's first. FSDP prefetches in backward
/// only (torch.distributed.fsdp, forward_prefetch), and frees a layer before the next one is gathered.
Line layer_units(Sheet& sheet, const Plan& plan, const Stage& stage, const GatheredUnits& units, PhaseKind phase) {
  const bool fsdp_forward = phase == PhaseKind::forward && plan.framework == Framework::fsdp;
  const bool at_the_end = phase == PhaseKind::backward && holds_layer_inputs(plan);  // fullest with the last layer
  const bool alone = phase == PhaseKind::loss || fsdp_forward || at_the_end;
  const double count = alone ? 1 : std::min(2.0, std::max(1.0, stage.layers));
  LineList children(sheet, units.layer.size());
  for (const ParameterGroup& g : units.layer)
    children.push_back(
        unit_leaf(sheet, plan, g, count, "torch.distributed.fsdp: the current unit and the prefetched one"));
  return sheet.sum("units", "Gathered layers", children);
}

/// A layer's gradient is whole until it is reduced and scattered.
Line gradient_unit(Sheet& sheet, const Plan& plan, const GatheredUnits& units) {
  LineList children(sheet, units.layer.size());
  for (const ParameterGroup& g : units.layer)
    children.push_back(unit_leaf(sheet, plan, g, 1, "torch.distributed.fsdp: reduce-scatter takes the whole gradient"));
  return sheet.sum("gradient", "Gradient of a layer", children);
}

Line fsdp_units(Sheet& sheet, const Plan& plan, const Stage& stage, const GatheredUnits& units, PhaseKind phase) {
  LineList children(sheet, {root_unit(sheet, plan, units, phase), layer_units(sheet, plan, stage, units, phase)});
  if (trains_all(plan) && phase == PhaseKind::backward) children.push_back(gradient_unit(sheet, plan, units));
  return sheet.sum("gathered", "Gathered weights", children, "weights in compute precision beside a rank's own share");
}

/// Every parameter once in 16 bit: what is not resharded (ZeRO 1 and 2 of FSDP), what autocast keeps of its casts.
Line whole_copy(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups, bool linears_only,
                const char* note) {
  LineList children(sheet, groups.size());
  for (const ParameterGroup& g : groups)
    if (g.linear || !linears_only) children.push_back(unit_leaf(sheet, plan, g, 1, note));
  return sheet.sum("gathered", "16-bit copy of the weights", children);
}

/// stage3_max_live_parameters and stage3_max_reuse_distance: 1e9 (DeepSpeed, docs/code-docs/source/zero3.rst).
Line deepspeed_live(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups) {
  double elements = 0;
  for (const ParameterGroup& g : groups) elements += elements_a_rank(plan, g);
  const double live = std::min(elements, 1e9);
  Factors factors = {times("P", live, "live parameters")};
  push_bits(8 * compute_bytes(plan), "bytes each", factors);
  return sheet.group("gathered", "Gathered weights",
                     {sheet.leaf("live", "Live parameters", std::move(factors), "DeepSpeed, stage3_max_live_parameters",
                                 kBuffersBand)});
}

/// fp32 weights that compute in 16 bit.
bool is_mixed(const Plan& plan) {
  return storage_of(plan).weight == 32 && compute_bytes(plan) == 2 && trains_all(plan);
}

bool reshards(const Plan& plan) {
  return fully_sharded(plan) && plan.zero >= 3 && (is_mixed(plan) || plan.dense_shards() > 1);
}

bool lives_by_deepspeed(const Plan& plan) {
  return plan.framework == Framework::deepspeed && (plan.zero >= 3 || plan.offload == Offload::all);
}

bool gathers_units(const Plan& plan) {
  if (!plan.subject->has_shape) return false;
  return reshards(plan) || (plan.offload == Offload::all && !lives_by_deepspeed(plan));
}

}  // namespace

GatheredUnits gathered_units(const Plan& plan, const Stage& stage) {
  if (!gathers_units(plan)) return {};
  return {outer_parameters(plan, stage), largest_layer(plan, stage)};
}

Line gathered_line(Sheet& sheet, const Plan& plan, const Stage& stage, const std::vector<ParameterGroup>& groups,
                   const GatheredUnits& units, PhaseKind phase) {
  Line none = sheet.nothing("gathered", "Gathered weights");
  if (phase == PhaseKind::optimizer) return none;
  if (gathers_units(plan)) return fsdp_units(sheet, plan, stage, units, phase);
  if (reshards(plan)) return none;
  if (lives_by_deepspeed(plan)) return deepspeed_live(sheet, plan, groups);
  if (fully_sharded(plan) && is_mixed(plan))
    return whole_copy(sheet, plan, groups, false,
                      "torch.distributed.fsdp, SHARD_GRAD_OP: not resharded between forward and backward");
  if (plan.framework == Framework::ddp && (is_mixed(plan) || runs_autocast(plan)))
    return whole_copy(sheet, plan, groups, true,
                      "torch.autocast keeps each linear's cast until backward (autocast_mode.cpp)");
  return none;
}

}  // namespace vram
