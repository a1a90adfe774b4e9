#include <cmath>
#include <initializer_list>

#include "engine/model/config_parts.h"

namespace vram {
namespace {

double first_count(const Fields& f, std::initializer_list<const char*> names, double otherwise = 0) {
  for (const char* name : names)
    if (const double value = f.count(name); value > 0) return value;
  return otherwise;
}

bool is_gemma4(const Fields& vision) { return vision.text("model_type") == "gemma4_vision"; }

double hidden_size(const Fields& vision) { return first_count(vision, {"embed_dim", "hidden_size", "width"}); }

struct Mlp {
  double width = 0, matrices = 2;
};

Mlp mlp_of(const Fields& vision, double hidden) {
  const double ratio = vision.number("mlp_ratio", 4);
  const bool gated = vision.text("model_type") == "pixtral" || is_gemma4(vision) || vision.text("hidden_act") == "silu";
  return {first_count(vision, {"intermediate_size", "mlp_dim"}, ratio * hidden), gated ? 3.0 : 2.0};
}

struct Patch {
  double side = 0, pixels = 0;  // pixels: of all colours and frames
};

Patch patch_of(const Fields& vision) {
  const double side = first_count(vision, {"patch_size", "spatial_patch_size"});
  const double colours = first_count(vision, {"in_channels", "num_channels", "in_chans"}, 3);
  return {side, colours * first_count(vision, {"temporal_patch_size"}, 1) * side * side};
}

/// Attention, an MLP and two norms, with biases: ViT's block (arXiv 2010.11929), or a gated one; Pixtral's without, and
/// Gemma 4's, which has four norms and one each of the heads' queries and keys.
double block_parameters(const Fields& vision, double hidden) {
  const auto [width, matrices] = mlp_of(vision, hidden);
  const bool pixtral = vision.text("model_type") == "pixtral", gemma = is_gemma4(vision);
  double vectors = 9 * hidden + (matrices - 1) * width;
  if (pixtral) vectors = 2 * hidden;
  if (gemma) vectors = 4 * hidden + 2 * vision.count("head_dim");
  return 4 * hidden * hidden + matrices * hidden * width + vectors;
}

/// Patches to the stream, and a position each where the tower learns them.
double embedding_parameters(const Fields& vision, double hidden) {
  const Patch patch = patch_of(vision);
  const double side = patch.side > 0 && !vision.has("rope_theta") ? vision.count("image_size") / patch.side : 0;
  if (is_gemma4(vision))  // a position's row and column
    return (patch.pixels + 2 * vision.count("position_embedding_size")) * hidden;
  const double positions = first_count(vision, {"num_position_embeddings"}, side * side);
  return (patch.pixels + 1 + positions) * hidden;
}

/// To the language model: of `merged` neighbouring patches at once, through a layer of that width or of the tower's, or
/// in one step.
double projector_parameters(const Fields& file, const Fields& vision, double hidden, double text_hidden) {
  const double out = first_count(vision, {"out_hidden_size"}, text_hidden);
  if (is_gemma4(vision)) return hidden * out + (vision.flag("standardize") ? 2 * hidden : 0);
  if (const double side = vision.count("spatial_merge_size"); side > 0) {
    const double merged = side * side * hidden;
    const double deep = static_cast<double>(vision.counts("deepstack_visual_indexes").size());
    return (1 + deep) * (merged * (merged + 1) + (merged + 1) * out) + 2 * hidden + 2 * deep * merged;
  }
  if (const double side = file.count("spatial_merge_size"); side > 0)
    return side * side * hidden * hidden + hidden * text_hidden + text_hidden * text_hidden + hidden;
  return hidden * out + 3 * hidden;
}

/// Patches of one square of the tower's own size, and how many squares a processor cuts an image into: InternVL's 12
/// tiles and Llama 4's 16, and a thumbnail. Qwen's take an image of any shape, of 16384 tokens at most
/// (preprocessor_config.json: max_pixels, longest_edge).
double most_patches(const Fields& file, const Fields& vision, double merged) {
  constexpr double kQwenTokens = 16384;
  const std::string family = file.text("model_type");
  if (family.starts_with("qwen")) return kQwenTokens * merged;
  const double side = patch_of(vision).side, across = side > 0 ? std::floor(vision.count("image_size") / side) : 0;
  const double tiles = family.starts_with("internvl") ? 13 : family.starts_with("llama4") ? 17 : 1;
  return tiles * across * across;
}

/// Patches that become one token.
double patches_a_token(const Fields& file, const Fields& vision) {
  const double side = first_count(vision, {"spatial_merge_size"}, file.count("spatial_merge_size"));
  const double ratio = file.number("downsample_ratio", vision.number("pixel_shuffle_ratio", 1));
  return side > 0 ? side * side : ratio > 0 ? 1 / (ratio * ratio) : 1;
}

}  // namespace

std::vector<double> largest_image(const Fields& file) {
  const Fields vision = file.section("vision_config");
  const double hidden = hidden_size(vision), merged = patches_a_token(file, vision);
  const double patches = most_patches(file, vision, merged);
  if (hidden <= 0 || patches < 1 || patches > 1e9) return {};
  const Mlp mlp = mlp_of(vision, hidden);
  const double tokens = first_count(file, {"mm_tokens_per_image"}, std::ceil(patches / merged));
  const auto deep = static_cast<double>(vision.counts("deepstack_visual_indexes").size());
  return {patches,
          tokens,
          hidden,
          mlp.matrices * mlp.width,
          patch_of(vision).pixels,
          1 + deep,
          vision.count("num_position_embeddings") > 0 ? 1.0 : 0.0};
}

double tower_parameters(const Fields& file, double text_hidden) {
  if (const double told = file.count("tower"); told > 0) return told;
  const Fields vision = file.section("vision_config");
  const double hidden = hidden_size(vision);
  const double layers = first_count(vision, {"depth", "num_hidden_layers", "num_layers", "layers"});
  if (hidden <= 0 || layers <= 0) return 0;
  const double all = layers * block_parameters(vision, hidden) + embedding_parameters(vision, hidden) +
                     projector_parameters(file, vision, hidden, text_hidden);
  return all < 1e12 ? std::floor(all) : 0;
}

}  // namespace vram
