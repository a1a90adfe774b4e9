#include "engine/model/config_parts.h"
#include "engine/model/layer_shape.h"

namespace vram {
namespace {

/// Which half of a layer a module's name is about.
struct Half {
  bool attention = false, mlp = false;
};

bool contains(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

bool is_router(std::string_view name) {
  return contains(name, "router") || name.ends_with("gate") || name.ends_with("gate$") || contains(name, ".gate.");
}

/// Of modules outside the decoder's layers, and of routers, which stay in 16 bit anyhow: none.
Half half_of(std::string_view name) {
  for (std::string_view outside : {"vis", "lm_head", "embed", "audio", "mtp", "norm", "shared_expert", "multi_modal"})
    if (contains(name, outside)) return {};
  if (is_router(name)) return {};
  if (contains(name, "attn") || contains(name, "attention") || contains(name, "mixer")) return {true, false};
  if (contains(name, "mlp") || contains(name, "expert") || contains(name, "feed_forward") || contains(name, "ffn"))
    return {false, true};
  const bool whole = contains(name, "layers.") || contains(name, "layers\\.");
  return {whole, whole};
}

/// N of "model.layers.N.mlp"; -1: all layers.
int layer_of(std::string_view name) {
  const size_t at = name.find("layers");
  if (at == std::string_view::npos) return -1;
  size_t i = at + 6;
  while (i < name.size() && (name[i] == '.' || name[i] == '\\')) ++i;
  if (i >= name.size() || name[i] < '0' || name[i] > '9') return -1;
  int layer = 0;
  for (; i < name.size() && name[i] >= '0' && name[i] <= '9' && layer < 100000; ++i)
    layer = layer * 10 + (name[i] - '0');
  return layer;
}

char letter_of(const Half& half) {
  return half.attention && half.mlp ? 'x' : half.attention ? 'a' : half.mlp ? 'm' : 'q';
}

}  // namespace

std::string unquantized_layers(const Fields& quantization, size_t layers) {
  std::vector<Half> halves(layers);
  for (const char* list : {"modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules"}) {
    for (const std::string& name : quantization.texts(list)) {
      const Half half = half_of(name);
      const int only = layer_of(name);
      for (size_t i = 0; i < layers; ++i) {
        if (only >= 0 && i != static_cast<size_t>(only)) continue;
        halves[i].attention = halves[i].attention || half.attention;
        halves[i].mlp = halves[i].mlp || half.mlp;
      }
    }
  }
  std::string letters;
  for (const Half& half : halves) letters += letter_of(half);
  const std::string pattern = shortest_pattern(letters);
  return pattern == "1q" ? "" : pattern;
}

}  // namespace vram
