#include "engine/serving/vision_tower.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace vram {
namespace {

constexpr double kHalf = 2;  // bytes of an activation

/// One image of the largest size that the family's processor makes.
struct Image {
  double patches = 0, tokens = 0;
  double hidden = 0, mlp = 0, pixels = 0;  // elements of a patch; mlp: what its matrices put out
  double outputs = 1;
  bool interpolates = false;  // learned positions to the image's size
};

struct FamilyImage {
  std::string_view text_model;  // how the language model's type begins
  Image image;
};

/// Of models whose vision_config is not at hand. Qwen: 16384 tokens of 4 patches (max_pixels). Gemma 3: 896 x 896
/// pixels, and four tokens around them. Gemma 4: 32 frames of 70 tokens of 9 patches, with their times. Pixtral: 1540 x
/// 1540 pixels and a token at the end of each row. Llama 4: 16 tiles and a thumbnail of 336 x 336.
constexpr FamilyImage kFamilies[] = {
    {"qwen2", {65536, 16384, 1280, 3 * 3420, 1176}}, {"qwen3", {65536, 16384, 1152, 2 * 4304, 1536, 1, true}},
    {"gemma3", {4096, 260, 1152, 2 * 4304, 588}},    {"gemma4", {20160, 2496, 1152, 3 * 4304, 768}},
    {"mistral", {12100, 3080, 1024, 3 * 4096, 588}}, {"llama4", {17 * 577, 17 * 144, 1408, 2 * 5632, 588}},
    {"", {577, 576, 1024, 2 * 4096, 588}},  // CLIP's large one, of LLaVA
};

Image largest_image(const Architecture& a) {
  if (a.image.size() >= 7 && a.image[0] >= 1 && a.image[1] >= 1)
    return {a.image[0], a.image[1], a.image[2], a.image[3], a.image[4], a.image[5], a.image[6] > 0};
  for (const FamilyImage& family : kFamilies) {
    if (a.model_type.starts_with(family.text_model)) return family.image;
  }
  return {};
}

/// Qwen2-VL's and Qwen2.5-VL's requests that have room beside an image are profiled with a video, whose tokens are
/// counted as those of images, but whose frames are cut down: 7 pairs of 768 tokens (model_executor/models/qwen2_vl.py,
/// get_num_frames_with_most_features).
Image profiled_item(const Plan& plan) {
  Image image = largest_image(plan.subject->architecture);
  const bool qwen2 = !image.interpolates && image.tokens >= 16384;
  if (!qwen2 || plan.max_len < 2 * image.tokens) return image;
  const double merged = image.patches / image.tokens;
  image.tokens = 7 * 768;
  image.patches = merged * image.tokens;
  return image;
}

// Before 0.13 Qwen's towers rotated queries and keys in fp32: beside the stream and its norm lie their product, a copy
// of it, one of them in fp32, rotated, and again in 16 bit (model_executor/models/qwen2_5_vl.py,
// Qwen2_5_VisionAttention.forward and apply_rotary_pos_emb_vision); since then in 16 bit
// (layers/rotary_embedding/common.py, ApplyRotaryEmb), which is less than the MLP holds.
constexpr double kRotatesInHalf = 13e3, kRotatedInFull = 11;

/// Beside the stream, four positions around each patch, the same weighed and their sums (model_executor/models/
/// qwen3_vl.py, fast_pos_embed_interpolate), none of it cut: a peak of 1.59 GiB of Qwen3.8-27B on two GPUs.
constexpr double kInterpolated = 10;

double most_elements(const Plan& plan, const Image& image, double tp) {
  const bool in_full =
      release_number(plan) < kRotatesInHalf && plan.subject->architecture.model_type.starts_with("qwen");
  const double widest = std::max(image.mlp, in_full ? kRotatedInFull * image.hidden : 0);
  const double positions = image.interpolates ? kInterpolated * image.hidden : 0;
  return image.pixels + std::max(positions, 2 * image.hidden + widest / tp);
}

}  // namespace

TowerRun tower_run(const Plan& plan, const Replica& replica) {
  const Image image = profiled_item(plan);
  // The first engine leaves an image out that its batch has no room for (multimodal/profiling.py, get_dummy_data).
  if (!vllm_run(plan).caches_encoder && image.tokens > plan.batch_tokens) return {};
  const double budget = std::max(plan.batch_tokens, image.tokens);
  const double of_a_request = std::max(1.0, std::floor(plan.max_len / image.tokens));
  const double images = std::min(std::floor(budget / image.tokens), plan.max_seqs * of_a_request);
  const bool video = image.tokens < largest_image(plan.subject->architecture).tokens;  // one a request
  return {video ? 1 : std::max(1.0, images), image.patches, image.tokens, most_elements(plan, image, replica.tp),
          image.outputs};
}

Line tower_line(Sheet& sheet, const TowerRun& run) {
  return sheet.leaf(
      "tower", "Vision tower",
      {times("n", run.images, "images"), times("p", run.patches, "patches"),
       times("a", run.elements, "elements of a patch"), times("", kHalf, "B")},
      "pixels, stream, norm and MLP of the largest images (vllm v1/worker/gpu_model_runner.py, profile_run)", 0.3);
}

Line encoder_cache_line(Sheet& sheet, const Plan& plan, const TowerRun& run) {
  return sheet.leaf("encoder_cache", "Encoder cache",
                    {times("T", run.images * run.tokens, "tokens of images"),
                     times("h", run.outputs * plan.subject->architecture.hidden, "hidden size"), times("", kHalf, "B")},
                    "what the tower puts out (vllm v1/worker/gpu_model_runner.py, profile_run)", 0.3);
}

}  // namespace vram
