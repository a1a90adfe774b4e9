#include "engine/training/states.h"

#include <algorithm>
#include <string_view>

#include "engine/sheet.h"
#include "engine/training/bands.h"
#include "engine/training/storage.h"

namespace vram {
namespace {

constexpr double kNever = 4;  // no ZeRO stage divides it

constexpr const char* kZeroNote = "ZeRO, arXiv 1910.02054, section 5";

constexpr const char* kWeightsNote = "bytes a parameter by framework and precision, a frozen base's by its format";
constexpr const char* kLoadedNote =
    "DeepSpeed, runtime/engine.py, _configure_distributed_model: a model that zero.Init did not divide goes to the GPU "
    "as a whole first; likewise one that is moved there before FSDP wraps it";
constexpr const char* kConstantsNote =
    "scales of the blocks are no parameters: bitsandbytes, functional.py, QuantState; AutoGPTQ, QuantLinear's buffers";
constexpr const char* kStatesNote = "bytes a parameter by framework, precision and optimizer";

bool frozen_base(const Plan& plan) { return !trains_all(plan); }

void push_shards(const Plan& plan, const ParameterGroup& group, double stage, Factors& factors) {
  if (plan.zero >= stage && group.shards > 1) factors.push_back(over("n", group.shards, "ranks of the sharding group"));
}

Line state_leaf(Sheet& sheet, const Plan& plan, const ParameterGroup& group, double bits, const char* meaning,
                double zero_stage, bool offloaded, double band = kStatesBand) {
  Factors factors = count_factors(plan, group);
  push_bits(bits, meaning, factors);
  push_shards(plan, group, zero_stage, factors);
  push_kept_share(plan, offloaded, factors);
  return sheet.leaf(group.id, group.label, std::move(factors), kZeroNote, band);
}

double weight_bits(const Plan& plan, const ParameterGroup& group) {
  if (frozen_base(plan)) return is_quantised(plan, group) ? frozen_linear_bits(plan) : frozen_other_bits(plan);
  if (plan.fp8_params && multiplies_quantised(plan, group)) return 8 * quantised_weight_bytes(plan);
  return storage_of(plan).weight;
}

bool is_quantised_base(const Plan& plan, const ParameterGroup& group) {
  return frozen_base(plan) && is_quantised(plan, group) && frozen_linear_bits(plan) < 16;
}

/// GPTQ's and AWQ's groups are their checkpoint's; others are quantised as they are loaded, in groups that are known.
double weights_band(const Plan& plan, const ParameterGroup& group) {
  const bool as_found = plan.base == Base::gptq || plan.base == Base::awq;
  return as_found && is_quantised_base(plan, group) ? kQuantisedBand : kStatesBand;
}

bool keeps_constants_whole(const Plan& plan, const ParameterGroup& group) {
  return is_quantised_base(plan, group) && plan.zero >= 3 && group.shards > 1;
}

Line constants_leaf(Sheet& sheet, const Plan& plan, const ParameterGroup& group, double bits) {
  Factors factors = count_factors(plan, group);
  push_bits(bits, "bytes a weight", factors);
  return sheet.leaf(group.id, group.label, std::move(factors), kConstantsNote, weights_band(plan, group));
}

/// Adafactor's sums of rows and columns.
Line factored_leaf(Sheet& sheet, const Plan& plan, const ParameterGroup& group, bool offloaded) {
  Factors factors = {times("r+c", group.factored, "rows and columns")};
  push_bits(storage_of(plan).moment, "bytes each", factors);
  push_shards(plan, group, 1, factors);
  push_kept_share(plan, offloaded, factors);
  return sheet.leaf(group.id, group.label, std::move(factors), "Adafactor, arXiv 1804.04235, section 3", kStatesBand);
}

double moments_bits(const Plan& plan, const ParameterGroup& group) {
  const Storage storage = storage_of(plan);
  return storage.moment * (group.block_linear ? storage.matrix_moments : storage.moments);
}

bool offloads_weights(const Plan& plan) { return plan.offload == Offload::all; }

/// ZeRO-Offload moves a gradient to the host as soon as it is reduced (arXiv 2101.06840, section 4.1), where gradients
/// are partitioned at all.
bool offloads_gradients(const Plan& plan) {
  const bool zero_offload =
      plan.framework == Framework::deepspeed && plan.offload == Offload::optimizer && plan.zero >= 2;
  return zero_offload || offloads_weights(plan);
}

/// FSDP's no_sync, which litgpt accumulates under (litgpt, finetune/lora.py, no_backward_sync), keeps gradients whole
/// until the last micro-batch (torch.distributed.fsdp, no_sync).
bool accumulates_whole(const Plan& plan) {
  return plan.framework == Framework::fsdp && plan.library == Library::litgpt && plan.zero >= 2 &&
         plan.dense_shards() > 1 && plan.micro_batches() > 1;
}

/// A flat parameter holds the frozen and the trained ones of a block, and its gradient is as long.
Line whole_gradients(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups) {
  const double bits = frozen_base(plan) ? 8 * compute_bytes(plan) : storage_of(plan).gradient;
  LineList children(sheet, groups.size());
  for (const ParameterGroup& g : groups)
    children.push_back(state_leaf(sheet, plan, g, bits, "bytes a gradient", kNever, offloads_gradients(plan)));
  return sheet.sum("gradients", "Gradients", children,
                   "torch.distributed.fsdp, no_sync: unsharded until the last micro-batch");
}

/// Only one gradient lives at a time: the largest matrix's.
Line gradient_in_flight(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups) {
  double largest = 0;
  for (const ParameterGroup& group : groups) largest = std::max(largest, group.largest / group.split);
  Factors factors = {times("P", largest, "parameters of the largest matrix")};
  push_bits(storage_of(plan).gradient, "bytes a gradient", factors);
  Line one = sheet.leaf("largest", "Largest matrix", std::move(factors),
                        "optimizer in backward: torch.optim, tutorial on _optimizer_step_in_backward", kStatesBand);
  return sheet.group("gradients", "Gradients", {one});
}

}  // namespace

bool is_quantised(const Plan& plan, const ParameterGroup& group) {
  return group.block_linear || (group.linear && plan.library == Library::litgpt);
}

bool multiplies_quantised(const Plan& plan, const ParameterGroup& group) {
  return computes_quantised(plan) && group.block_linear && !std::string_view(group.id).starts_with("router");
}

bool offloads_optimizer(const Plan& plan) { return plan.offload == Offload::all || plan.offload == Offload::optimizer; }

void push_kept_share(const Plan& plan, bool offloaded, Factors& factors) {
  if (!offloaded) return;
  const double kept = 1 - plan.offload_fraction;
  factors.push_back(times("kept", kept, "share kept on the GPU"));
}

Line weights_line(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups) {
  LineList children(sheet, groups.size() + 1), constants(sheet, 0);
  for (const ParameterGroup& g : groups) {
    const double whole = keeps_constants_whole(plan, g) ? unsharded_constants_bits(plan) : 0;
    children.push_back(state_leaf(sheet, plan, g, weight_bits(plan, g) - whole, "bytes a weight", 3,
                                  offloads_weights(plan), weights_band(plan, g)));
    if (whole > 0) constants.push_back(constants_leaf(sheet, plan, g, whole));
  }
  if (!constants.empty())
    children.push_back(
        sheet.sum("quantisation", "Constants of the quantiser, on every rank", constants, kConstantsNote));
  return sheet.sum("weights", "Weights", children, kWeightsNote);
}

Line loaded_weights_line(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups) {
  LineList children(sheet, groups.size());
  for (const ParameterGroup& g : groups)
    children.push_back(
        state_leaf(sheet, plan, g, weight_bits(plan, g), "bytes a weight", kNever, false, weights_band(plan, g)));
  return sheet.sum("weights", "Weights", children, kLoadedNote);
}

Line gradients_line(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups, bool present) {
  if (present && accumulates_whole(plan)) return whole_gradients(sheet, plan, groups);
  if (frozen_base(plan) || !present) return sheet.nothing("gradients", "Gradients");
  if (plan.optimizer_in_backward) return gradient_in_flight(sheet, plan, groups);
  LineList children(sheet, groups.size());
  for (const ParameterGroup& g : groups)
    if (g.trained)
      children.push_back(
          state_leaf(sheet, plan, g, storage_of(plan).gradient, "bytes a gradient", 2, offloads_gradients(plan)));
  return sheet.sum("gradients", "Gradients", children, kStatesNote);
}

Line optimizer_line(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups) {
  if (frozen_base(plan)) return sheet.nothing("optimizer", "Optimizer");
  const Storage storage = storage_of(plan);
  const bool offloaded = offloads_optimizer(plan);
  LineList master(sheet, groups.size()), moments(sheet, groups.size());
  for (const ParameterGroup& g : groups) {
    if (!g.trained) continue;
    if (storage.master > 0)
      master.push_back(state_leaf(sheet, plan, g, storage.master, "bytes a weight", 1, offloaded));
    if (storage.factored) moments.push_back(factored_leaf(sheet, plan, g, offloaded));
    const double bits = moments_bits(plan, g);
    if (bits > 0) moments.push_back(state_leaf(sheet, plan, g, bits, "bytes of moments", 1, offloaded));
  }
  LineList children(sheet);
  if (!master.empty())
    children.push_back(sheet.sum("master", storage.master == 32 ? "fp32 weights" : "16-bit master weights", master));
  if (!moments.empty()) children.push_back(sheet.sum("moments", "Moments", moments));
  return sheet.sum("optimizer", "Optimizer", children, kStatesNote);
}

}  // namespace vram
