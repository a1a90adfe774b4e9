#include "engine/training/napkin.h"

#include <cmath>

namespace vram {
namespace {

constexpr double kBufferBytes = 10e9;

/// A product, or nothing above 2^53.
std::optional<uint64_t> product(const Factors& factors) {
  bool too_large = false;
  const uint64_t bytes = product_bytes(factors, &too_large);
  return too_large ? std::nullopt : std::optional(bytes);
}

std::optional<uint64_t> sum(std::optional<uint64_t> a, std::optional<uint64_t> b) {
  if (!a || !b || *a + *b > kLargestBillBytes) return std::nullopt;
  return *a + *b;
}

/// 16 bytes a trained parameter (2 weights, 2 gradients, 4 + 4 + 4 Adam; arXiv 1910.02054, section 3.1), 2 a frozen
/// one.
std::optional<uint64_t> states(const Plan& plan) {
  const double trained = trained_parameters(plan), all = plan.subject->nominal_parameters;
  const double frozen = plan.method == Method::full ? all - trained : all;
  return sum(product({times("P", trained, "trained"), times("B", 16, "bytes")}),
             product({times("P", frozen, "frozen"), times("B", 2, "bytes")}));
}

/// L (34 s b h + 5 a s² b): arXiv 2205.05198, equation 1.
std::optional<uint64_t> activations(const Plan& plan) {
  if (plan.layers <= 0 || plan.hidden <= 0 || plan.heads <= 0) return std::nullopt;
  const Factor layers = times("L", plan.layers, "layers"), b = times("b", plan.micro_batch, "sequences");
  const Factor s = times("s", plan.seq, "tokens");
  return sum(product({layers, s, b, times("h", plan.hidden, "hidden"), times("B", 34, "bytes")}),
             product({layers, s, s, b, times("a", plan.heads, "heads"), times("B", 5, "bytes")}));
}

double marketed_bytes(const Plan& plan) {
  const bool replaced = plan.has(Key::gpu_mem) && plan.gpu_mem != plan.accelerator->memory_bytes;
  return replaced || plan.accelerator->marketed_bytes <= 0 ? plan.gpu_mem : plan.accelerator->marketed_bytes;
}

}  // namespace

TrainingNapkin training_napkin(const Plan& plan) {
  TrainingNapkin napkin;
  napkin.states_bytes = states(plan);
  napkin.activations_bytes = activations(plan);
  napkin.buffers_bytes = static_cast<uint64_t>(kBufferBytes);
  const bool no_shape = plan.layers <= 0 || plan.hidden <= 0 || plan.heads <= 0;  // then without activations
  napkin.total_bytes = sum(sum(napkin.states_bytes, no_shape ? std::optional<uint64_t>(0) : napkin.activations_bytes),
                           napkin.buffers_bytes);
  const double each = marketed_bytes(plan);
  if (napkin.total_bytes && each > 0)
    napkin.gpus = static_cast<uint64_t>(std::ceil(static_cast<double>(*napkin.total_bytes) / each));
  return napkin;
}

}  // namespace vram
