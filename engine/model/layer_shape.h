#pragma once

#include <string>
#include <string_view>

#include "engine/model/model.h"

namespace vram {

/// What tells one layer kind from another.
struct LayerShape {
  Mixer mixer = Mixer::full;
  FfnKind ffn = FfnKind::dense;
  double ffn_width = 0;
  double heads = 0, kv_heads = 0;
  bool reuses_kv = false;
  bool indexer = false;  // has a sparse-attention indexer of its own
  bool global = false;   // a full layer of a model whose full layers have heads of their own
  bool operator==(const LayerShape&) const = default;
};

/// "2s1f" as "ssf"; "" where it is no pattern: other letters, or longer than a model can be.
std::string expand_pattern(std::string_view pattern, std::string_view letters = "sflmx");
/// The shortest pattern that, repeated, gives `letters`: "ssfssf" is "2s1f".
std::string shortest_pattern(std::string_view letters);

/// Layer `index` of the architecture; `letters` is its pattern, expanded.
LayerShape layer_shape(const Architecture& a, std::string_view letters, size_t index);

/// Its attention, empty for a layer that has none.
Attention layer_attention(const Architecture& a, const LayerShape& shape);
Ffn layer_ffn(const Architecture& a, const LayerShape& shape);
/// The kind with all its matrices.
LayerKind layer_kind(const Architecture& a, const LayerShape& shape);

/// hidden / heads where the config does not say (Hugging Face's default).
double head_dim_of(const Architecture& a);
double kv_heads_of(const Architecture& a);

}  // namespace vram
