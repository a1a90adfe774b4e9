#include "engine/training/layer_tensors.h"

#include <algorithm>
#include <string_view>

namespace vram {
namespace {

bool selects_operations(const Plan& plan) {
  return plan.recompute == Recompute::selective && plan.library != Library::megatron;
}

LayerSetting without_recomputation(LayerSetting s) {
  s.recompute_core = s.recompute_mlp = s.recompute_norms = s.recompute_moe = s.recompute_product = s.recompute_latent =
      s.recompute_shared = false;
  return s;
}

/// Sequence parallelism: a linear's input gradient is whole until it is reduced and scattered (Megatron-LM,
/// core/tensor_parallel/layers.py); DTensor has one of each of gate and up.
double gathered_gradients(const Plan& plan, const LayerSetting& s) {
  if (s.sp <= 1) return 0;
  return (plan.library == Library::torchtitan ? 2 : 1) * s.e * s.h;
}

LayerTensors layer_tensors(const Plan& plan, const LayerKind& kind) {
  LayerTensors layer;
  layer.setting = layer_setting(plan, kind);
  const LayerSetting& s = layer.setting;
  layer.whole = saved_tensors(plan, without_recomputation(s), kind);
  if (plan.recompute == Recompute::selective)
    layer.selected = selects_operations(plan) ? saved_by_selected_operations(s, kind) : saved_tensors(plan, s, kind);
  layer.whole_bytes = bytes_per_token(layer.whole);
  layer.gradient_bytes = transient_bytes_per_token(plan, s, kind) + s.e * s.h / s.sp + gathered_gradients(plan, s);
  return layer;
}

}  // namespace

ModelTensors::ModelTensors(const Plan& plan) {
  const Model& model = *plan.subject;
  if (!model.has_shape) return;
  kinds.reserve(model.kinds.size());
  for (const LayerKind& kind : model.kinds) kinds.push_back(layer_tensors(plan, kind));
  modules.reserve(model.mtp.size());
  for (const LayerKind& module : model.mtp) modules.push_back(layer_tensors(plan, module));
}

SavedTensors recomputed_tensors(const Plan& plan, const LayerTensors& layer) {
  if (plan.recompute == Recompute::none) return {};
  if (plan.recompute == Recompute::full || selects_operations(plan)) return layer.whole;
  SavedTensors tensors;
  const auto kept = [&layer](const SavedTensor& t) {
    return std::any_of(layer.selected.begin(), layer.selected.end(),
                       [&t](const SavedTensor& k) { return k.area == t.area && std::string_view(k.id) == t.id; });
  };
  std::remove_copy_if(layer.whole.begin(), layer.whole.end(), std::back_inserter(tensors), kept);
  return tensors;
}

}  // namespace vram
