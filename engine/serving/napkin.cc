#include "engine/serving/napkin.h"

#include <algorithm>
#include <cmath>

#include "engine/formats.h"
#include "engine/serving/weights.h"

namespace vram {
namespace {

/// A napkin figure above 2^53 is left out.
std::optional<uint64_t> whole_bytes(double bytes) {
  if (bytes < 0 || bytes > static_cast<double>(kLargestBillBytes)) return std::nullopt;
  return static_cast<uint64_t>(std::ceil(bytes));
}

/// 2 x layers x KV heads x head size, every layer alike; a latent counts once.
double elements_per_token(const Model& model) {
  double elements = 0;
  for (size_t k = 0; k < model.kinds.size(); ++k) {
    const bool attends = model.kinds[k].mixer == Mixer::full || model.kinds[k].mixer == Mixer::sliding;
    if (attends)
      elements += model.layers_of_kind(k, 0, model.layers.size()) * model.kinds[k].attention.kv_elements_per_token();
  }
  return elements;
}

}  // namespace

ServingNapkin serving_napkin(const Plan& plan) {
  const Model& model = *plan.subject;
  ServingNapkin napkin;
  const double parameters = model.nominal_parameters;
  if (parameters > 0) {
    napkin.weights_bytes = whole_bytes(parameters * weights_format(plan).nominal_bytes);
    napkin.flops_per_token = 2 * (model.active_parameters > 0 ? model.active_parameters : parameters);
    if (napkin.weights_bytes) napkin.reserve_bytes = whole_bytes(static_cast<double>(*napkin.weights_bytes) / 4);
  }
  if (model.has_kv_shape) {
    napkin.kv_bytes_per_request =
        whole_bytes(elements_per_token(model) * (kv_format(plan).nominal_bytes + kv_values_format(plan).nominal_bytes) /
                    2 * (plan.prompt + plan.output));
  }
  if (napkin.weights_bytes && napkin.reserve_bytes && napkin.kv_bytes_per_request && *napkin.kv_bytes_per_request > 0) {
    const double left =
        plan.gpu_mem * plan.serve_gpus - static_cast<double>(*napkin.weights_bytes + *napkin.reserve_bytes);
    napkin.max_concurrency = std::floor(std::max(0.0, left) / static_cast<double>(*napkin.kv_bytes_per_request));
  }
  return napkin;
}

}  // namespace vram
