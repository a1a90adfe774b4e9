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

/// Attention, an MLP and two norms, with biases: ViT's block (arXiv 2010.11929), or a gated one; Pixtral's without, and
/// Gemma 4's, which has four norms and one each of the heads' queries and keys.
double block_parameters(const Fields& vision, double hidden) {
  const double ratio = vision.number("mlp_ratio", 4);
  const double width = first_count(vision, {"intermediate_size", "mlp_dim"}, ratio * hidden);
  const bool pixtral = vision.text("model_type") == "pixtral", gemma = is_gemma4(vision);
  const bool gated = pixtral || gemma || vision.text("hidden_act") == "silu";
  const double matrices = gated ? 3 : 2;
  double vectors = 9 * hidden + (matrices - 1) * width;
  if (pixtral) vectors = 2 * hidden;
  if (gemma) vectors = 4 * hidden + 2 * vision.count("head_dim");
  return 4 * hidden * hidden + matrices * hidden * width + vectors;
}

/// Patches to the stream, and a position each where the tower learns them.
double embedding_parameters(const Fields& vision, double hidden) {
  const double patch = first_count(vision, {"patch_size", "spatial_patch_size"});
  const double colours = first_count(vision, {"in_channels", "num_channels", "in_chans"}, 3);
  const double frames = first_count(vision, {"temporal_patch_size"}, 1);
  const double side = patch > 0 && !vision.has("rope_theta") ? vision.count("image_size") / patch : 0;
  if (is_gemma4(vision))  // a position's row and column
    return (colours * patch * patch + 2 * vision.count("position_embedding_size")) * hidden;
  const double positions = first_count(vision, {"num_position_embeddings"}, side * side);
  return (colours * frames * patch * patch + 1 + positions) * hidden;
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

}  // namespace

double tower_parameters(const Fields& file, double text_hidden) {
  if (const double told = file.count("tower"); told > 0) return told;
  const Fields vision = file.section("vision_config");
  const double hidden = first_count(vision, {"embed_dim", "hidden_size", "width"});
  const double layers = first_count(vision, {"depth", "num_hidden_layers", "num_layers", "layers"});
  if (hidden <= 0 || layers <= 0) return 0;
  const double all = layers * block_parameters(vision, hidden) + embedding_parameters(vision, hidden) +
                     projector_parameters(file, vision, hidden, text_hidden);
  return all < 1e12 ? std::floor(all) : 0;
}

}  // namespace vram
