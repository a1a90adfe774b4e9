#include "engine/serving/replica.h"

#include <algorithm>

#include "engine/serving/llamacpp.h"

namespace vram {

Replica replica_of(const Plan& plan) {
  Replica replica{std::max(1.0, plan.serve_tp), std::max(1.0, plan.serve_pp), std::max(1.0, plan.serve_dp),
                  std::max(1.0, plan.serve_ep)};
  if (plan.engine == Engine::llamacpp) {  // --split-mode layer, the default
    replica.pp *= replica.tp;
    replica.tp = 1;
  }
  return replica;
}

ServingStage whole_model(const Plan& plan) { return {0, plan.subject->layers.size(), true, true, true}; }

namespace {

/// Layers that llama.cpp keeps in host memory: the first ones.
size_t host_layers(const Plan& plan) {
  const size_t layers = plan.subject->layers.size();
  if (plan.engine != Engine::llamacpp || plan.gpu_layers >= static_cast<double>(layers)) return 0;
  return layers - static_cast<size_t>(std::max(0.0, plan.gpu_layers));
}

/// With layers in host memory the head is there too, but for builds that move it first.
bool head_on_host(const Plan& plan) {
  if (host_layers(plan) == 0) return false;
  return plan.gpu_layers < 1 || !llamacpp_build(plan.engine_version).head_first;
}

}  // namespace

size_t before_n_cpu_moe(const Plan& plan, size_t first, size_t count) {
  const auto end = static_cast<size_t>(std::max(0.0, plan.n_cpu_moe));
  return plan.engine != Engine::llamacpp || end <= first ? 0 : std::min(end - first, count);
}

ServingStage host_stage(const Plan& plan) {
  if (plan.engine != Engine::llamacpp) return {0, 0, false, false, false};
  const size_t own = host_layers(plan), rest = plan.subject->layers.size() - own;
  return {0, own, true, head_on_host(plan), false, 0, before_n_cpu_moe(plan, own, rest)};
}

namespace {

/// llama.cpp's --split-mode layer (src/llama-model.cpp, get_layer_buft_list): the output layer is one of those that
/// GPUs share evenly, so the first ones have a layer more.
std::vector<ServingStage> layer_split(const Plan& plan, size_t stages) {
  const size_t first = host_layers(plan), layers = plan.subject->layers.size();
  const bool with_head = !head_on_host(plan);
  const size_t shared = layers - first + (with_head ? 1 : 0);
  const auto start = [&](size_t stage) { return std::min(first + (stage * shared + stages - 1) / stages, layers); };
  std::vector<ServingStage> result(stages);
  for (size_t i = 0; i < stages; ++i) {
    const size_t count = start(i + 1) - start(i);
    result[i] = {start(i), count, false, i + 1 == stages && with_head, i == 0, before_n_cpu_moe(plan, start(i), count)};
  }
  return result;
}

}  // namespace

std::vector<ServingStage> serving_stages(const Plan& plan, const Replica& replica) {
  const auto stages = static_cast<size_t>(replica.pp);
  if (plan.engine == Engine::llamacpp) return layer_split(plan, stages);
  size_t first = 0;
  const size_t layers = plan.subject->layers.size(), even = layers / stages, surplus = layers % stages;
  std::vector<ServingStage> result(stages);
  for (size_t i = 0; i < stages; ++i) {
    // vllm/distributed/utils.py, get_pp_indices: the last stage has the head and gets no surplus layer.
    const bool one_more = i + 1 < stages && i + 1 + surplus >= stages;
    result[i] = {first, even + (one_more ? 1 : 0), i == 0, i + 1 == stages, i == 0};
    first += result[i].count;
  }
  return result;
}

double draft_layer_count(const Plan& plan) {
  if (plan.draft_layers > 0) return plan.draft_layers;
  return plan.draft_tokens > 0 ? static_cast<double>(plan.subject->mtp.size()) : 0;
}

}  // namespace vram
