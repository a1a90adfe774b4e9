#include "engine/serving/gguf_mixtures.h"

#include <cmath>

namespace vram {
namespace {

using enum GgufWhere;

constexpr GgufMixture below_3_bits(std::string_view file, const GgufType* own, const GgufType* output = nullptr) {
  return {.file = file,
          .own = own,
          .value = {grouped, &kQ4K, &kQ2K},
          .down = {first_eighth, &kQ2K},
          .output = output,
          .embedding = &kQ2K,
          .head = &kQ5K,
          .output_of_eight = true,
          .below_3_bits = true};
}

// Of files below 4 bits the importance matrix is taken to be there, of the others not.
constexpr GgufMixture kMixtures[] = {
    {.file = "q8_0", .own = &kQ8, .head = &kQ8},
    {.file = "q6_k", .own = &kQ6K},
    {.file = "q5_k_m", .own = &kQ5K, .value = {more_bits, &kQ6K}, .down = {more_bits, &kQ6K}, .fused_qkv = &kQ6K},
    {.file = "q5_k_s", .own = &kQ5K},
    {.file = "q5_1", .own = &kQ51},
    {.file = "q5_0", .own = &kQ50},
    {.file = "q4_k_m",
     .own = &kQ4K,
     .value = {more_bits, &kQ6K},
     .down = {more_bits, &kQ6K},
     .fused_qkv = &kQ5K,
     .output_of_eight = true},
    {.file = "q4_k_s",
     .own = &kQ4K,
     .value = {first_four, &kQ5K},
     .down = {first_eighth, &kQ5K},
     .output_of_eight = true},
    {.file = "q4_1", .own = &kQ41},
    {.file = "q4_0", .own = &kQ40},
    {.file = "iq4_nl", .own = &kNl4, .value = {grouped, &kQ5K}, .down = {first_eighth, &kQ5K}, .output_of_eight = true},
    {.file = "iq4_xs", .own = &kXs4, .value = {grouped, &kQ5K}, .down = {first_eighth, &kQ5K}, .output_of_eight = true},
    {.file = "q3_k_l",
     .own = &kQ3K,
     .value = {always, &kQ5K},
     .down = {always, &kQ5K},
     .output = &kQ5K,
     .fused_qkv = &kQ4K},
    {.file = "q3_k_m",
     .own = &kQ3K,
     .value = {first_two, &kQ5K, &kQ4K},
     .down = {first_sixteenth, &kQ5K, &kQ4K},
     .output = &kQ4K,
     .fused_qkv = &kQ4K,
     .output_of_eight = true},
    {.file = "q3_k_s", .own = &kQ3K, .output_of_eight = true},
    {.file = "q2_k",
     .own = &kQ2K,
     .value = {grouped, &kQ4K, &kQ3K},
     .down = {always, &kQ3K},
     .output = &kQ3K,
     .output_of_eight = true},
    {.file = "iq3_xxs",
     .own = &kXxs3,
     .value = {grouped, &kQ4K},
     .output = &kS3,
     .query_key = &kS2,
     .embedding = &kS3,
     .head = &kQ5K,
     .output_of_eight = true},
    below_3_bits("iq2_xs", &kXs2),
    below_3_bits("iq2_xxs", &kXxs2),
    below_3_bits("iq1_s", &kS1, &kXxs2),
    {.file = "mxfp4", .own = &kQ8, .head = &kQ8},  // MXFP4_MOE: the experts alone
};

}  // namespace

const GgufMixture* gguf_mixture(std::string_view file) {
  for (const GgufMixture& mixture : kMixtures) {
    if (mixture.file == file) return &mixture;
  }
  return nullptr;
}

double gguf_bits(const GgufType* type, double columns) {
  while (type->otherwise != nullptr && std::fmod(columns, type->block) != 0) type = type->otherwise;
  return type->bits;
}

}  // namespace vram
