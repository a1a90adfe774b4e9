#include <algorithm>
#include <vector>

#include "engine/model/config_parts.h"
#include "engine/model/layer_shape.h"
#include "engine/model/stored_halves.h"

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
  for (std::string_view small : {"in_proj_a", "in_proj_b", "conv1d"})  // of linear attention's, a hundredth
    if (contains(name, small)) return {};
  if (contains(name, "experts")) return {false, true};  // also of layers that call it their mixer (Nemotron-H)
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

/// Calls `set` with the halves of every layer that a name is about.
template <class Set>
void for_named(std::string_view name, std::vector<StoredHalves>& layers, const Set& set) {
  const Half half = half_of(name);
  const int only = layer_of(name);
  const size_t first = only >= 0 ? static_cast<size_t>(only) : 0;
  const size_t end = only >= 0 ? std::min(first + 1, layers.size()) : layers.size();
  for (size_t i = first; i < end; ++i) {
    if (half.attention) set(layers[i].attention);
    if (half.mlp) set(layers[i].mlp);
  }
}

/// ModelOpt's MIXED_PRECISION names every module that is quantised and how (export/convert_hf_config.py); the rest is
/// not. Of a half that is named more than once the wider counts.
void read_quantised_layers(const Fields& named, std::vector<StoredHalves>& layers) {
  std::fill(layers.begin(), layers.end(), StoredHalves{Stored::sixteen_bit, Stored::sixteen_bit});
  for (const std::string& name : named.names()) {
    const std::string algorithm = named.section(name.c_str()).text("quant_algo");
    const bool eight = (contains(algorithm, "FP8") && !algorithm.starts_with("W4")) || algorithm.starts_with("W8");
    const Stored stored = eight ? Stored::eight_bit : Stored::as_format;
    for_named(name, layers,
              [stored](Stored& half) { half = half == Stored::sixteen_bit ? stored : std::max(half, stored); });
  }
}

}  // namespace

std::string unquantized_layers(const Fields& quantization, size_t layers) {
  std::vector<StoredHalves> halves(layers);
  const Fields named = quantization.section("quantized_layers");
  if (!named.names().empty()) read_quantised_layers(named, halves);
  for (const char* list : {"modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules"}) {
    for (const std::string& name : quantization.texts(list))
      for_named(name, halves, [](Stored& half) { half = Stored::sixteen_bit; });
  }
  std::string letters;
  for (const StoredHalves& half : halves) letters += letter_of(half);
  const std::string pattern = shortest_pattern(letters);
  return pattern == "1q" ? "" : pattern;
}

}  // namespace vram
