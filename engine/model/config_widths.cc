#include <algorithm>
#include <cmath>

#include "engine/model/config_parts.h"

namespace vram {
namespace {

/// Key-value heads as Falcon says them (modeling_falcon.py, FalconAttention): multi_query alone means one head.
double falcon_kv_heads(const Fields& f, const Architecture& a) {
  if (f.flag("new_decoder_architecture")) return f.count("num_key_value_heads", a.heads);
  return f.flag("multi_query") ? 1 : a.heads;
}

double kv_heads(const Fields& f, const Architecture& a) {
  if (f.has("new_decoder_architecture")) return falcon_kv_heads(f, a);
  if (f.has("multi_query_attention"))  // ChatGLM
    return f.flag("multi_query_attention") ? f.count("multi_query_group_num", 1) : a.heads;
  if (f.has("multi_query")) return f.flag("multi_query") ? 1 : f.count("num_key_value_heads", a.heads);
  if (f.text("attn_type") == "multiquery_attention") return 1;  // MPT
  const double heads = f.count("num_key_value_heads", a.heads);
  if (heads == 0 && a.heads > 0 && f.has("num_key_value_heads"))
    f.fault("num_key_value_heads", "not a number of heads of at least 1");
  return heads;
}

/// Files that list their layers need not count them (Nemotron-H).
double listed_layers(const Fields& f) {
  if (f.is_text("hybrid_override_pattern")) return static_cast<double>(f.text("hybrid_override_pattern").size());
  return f.is_list("layers_block_type") ? static_cast<double>(f.texts("layers_block_type").size()) : 0;
}

/// LFM2's MLP is two thirds of what the file says, in whole multiples (modeling_lfm2.py, Lfm2MLP).
double adjusted_width(const Fields& f, double width) {
  width = std::floor(std::floor(2 * width / 3) * f.number("block_ffn_dim_multiplier", 1));
  const double multiple = std::max(1.0, f.count("block_multiple_of", 1));
  return std::ceil(width / multiple) * multiple;
}

double ffn_width(const Fields& f, const Architecture& a) {
  if (f.has("dense_intermediate_size")) return f.count("dense_intermediate_size");
  const double multiple = f.number("expansion_ratio", f.number("mlp_ratio", f.number("_ffn_multiple")));
  double width = f.count("intermediate_size", f.count("mlp_hidden_size"));
  if (width == 0) width = std::floor(multiple * a.hidden);
  if (f.flag("block_auto_adjust_ff_dim")) return adjusted_width(f, width);
  return f.flag("_ffn_halved") ? width / 2 : width;
}

/// Widths that differ from layer to layer (Gemma 3n); the plain number where they are all the same.
void read_ffn(const Fields& f, Architecture& a) {
  const std::vector<double> widths =
      f.is_list("intermediate_size") ? f.counts("intermediate_size") : std::vector<double>();
  bool differ = false;
  for (double width : widths) differ = differ || width != widths.front();
  if (!differ) {
    a.ffn = ffn_width(f, a);
    return;
  }
  a.ffn_per_layer = widths;
  for (double width : widths) a.ffn = std::max(a.ffn, width);
}

}  // namespace

void read_widths(const Fields& f, Architecture& a) {
  a.layers = f.count("num_hidden_layers", listed_layers(f));
  a.hidden = f.count("hidden_size");
  a.heads = f.flag("_no_attention") ? 0 : f.count("num_attention_heads");
  a.kv_heads = kv_heads(f, a);
  a.head_dim = f.count("head_dim");
  if (a.heads == 0) a.head_dim = 0;
  if (a.head_dim == 0 && a.heads > 0 && std::fmod(a.hidden, a.heads) == 0) a.head_dim = a.hidden / a.heads;
  if (!f.flag("_no_ffn")) read_ffn(f, a);
  a.vocab = f.has("_vocab_field") ? f.count(f.text("_vocab_field").c_str()) : f.count("vocab_size");
  if (a.vocab == 0) a.vocab = f.count("vocab_size");
  a.max_positions = f.count("max_position_embeddings");
  a.laurel_rank = f.count("laurel_rank");
  a.altup_inputs = f.count("altup_num_inputs");
  a.per_layer_input = f.count("hidden_size_per_layer_input");
  if (a.per_layer_input > 0) a.per_layer_vocab = f.count("vocab_size_per_layer_input", a.vocab);
  const double narrow = f.count("word_embed_proj_dim");  // OPT-350M
  if (narrow != a.hidden) a.embedding_dim = narrow;
}

}  // namespace vram
