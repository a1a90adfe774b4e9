#include <algorithm>
#include <cmath>

#include "engine/model/config_parts.h"
#include "engine/model/layer_shape.h"
#include "engine/units.h"

namespace vram {
namespace {

struct KindWord {
  std::string_view word;
  char letter;
};

// layer_types, layers_block_type and the like: what each word means for the mixer.
constexpr KindWord kWords[] = {
    {"full_attention", 'f'},
    {"attention", 'f'},
    {"global", 'f'},
    {"global_attention", 'f'},
    {"deepseek_sparse_attention", 'f'},
    {"minimax_m3_sparse", 'f'},
    {"sliding_attention", 's'},
    {"chunked_attention", 's'},
    {"local", 's'},
    {"sliding_window_attention", 's'},
    {"linear_attention", 'l'},
    {"lightning_attention", 'l'},
    {"conv", 'l'},
    {"short_conv", 'l'},
    {"mamba", 'm'},
    {"mamba2", 'm'},
    {"moe", 'x'},
    {"mlp", 'x'},
};

char letter_of(std::string_view word) {
  for (const KindWord& known : kWords)
    if (known.word == word) return known.letter;
  return 0;
}

std::string letters_of_words(const Fields& f, const char* field) {
  std::string letters;
  for (const std::string& word : f.texts(field)) {
    const char letter = letter_of(word);
    if (!letter) {
      f.fault(field, "unknown kind of layer: " + shown(word));
      return "";
    }
    letters += letter;
  }
  return letters;
}

/// transformers refuses such a file, too (configuration_utils.py, layer_type_validation).
std::string letters_of_types(const Fields& f, const Architecture& a) {
  const std::string letters = letters_of_words(f, "layer_types");
  const auto types = static_cast<double>(letters.size());
  if (!letters.empty() && a.layers > 0 && types != a.layers)
    f.fault("layer_types",
            counted(types, "type", "types") + " for " + counted(a.layers, "layer", "layers") + " (num_hidden_layers)");
  return letters;
}

/// A list of numbers where `marked` means `letter` and any other value `otherwise`.
std::string letters_of_numbers(const Fields& f, const char* field, double marked, char letter, char otherwise) {
  std::string letters;
  for (double value : f.counts(field)) letters += value == marked ? letter : otherwise;
  return letters;
}

/// n layers of which the last (or the one at `offset`) is full attention.
std::string period_of(const Fields& f, const char* field, double period, char other, double offset) {
  if (period < 1 || period > 1000 || offset < 0 || offset >= period) {
    f.fault(field, "not a period of layers");
    return "";
  }
  std::string letters(static_cast<size_t>(period), other);
  letters[static_cast<size_t>(offset)] = 'f';
  return letters;
}

std::string letters_of_pattern(const Fields& f) {
  if (!f.is_text("sliding_window_pattern")) {
    const double period = f.count("sliding_window_pattern");
    return period > 0 ? period_of(f, "sliding_window_pattern", period, 's', period - 1) : "";
  }
  std::string letters;  // EXAONE 4: "LLLG"
  for (char c : f.text("sliding_window_pattern")) letters += c == 'L' ? 's' : 'f';
  return letters;
}

/// Nemotron-H: M Mamba-2, * attention, - dense FFN, E experts. A layer is a mixer or an FFN, never both.
void read_hybrid_pattern(const Fields& f, Architecture& a, std::string* letters) {
  std::string kinds;
  for (char c : f.text("hybrid_override_pattern")) {
    if (std::string_view("M*-E").find(c) == std::string_view::npos) {
      f.fault("hybrid_override_pattern", "letters other than M, *, - and E");
      return;
    }
    *letters += c == 'M' ? 'm' : c == '*' ? 'f' : 'x';
    kinds += c == '-' ? 'd' : c == 'E' ? 'e' : 'x';
  }
  a.ffn_kinds = kinds;
}

/// The same, spelled out: mamba, attention, mlp, moe.
void read_block_types(const Fields& f, Architecture& a, std::string* letters) {
  *letters = letters_of_words(f, "layers_block_type");
  if (!f.flag("_ffn_or_mixer")) return;
  std::string kinds;
  for (const std::string& word : f.texts("layers_block_type")) kinds += word == "moe" ? 'e' : word == "mlp" ? 'd' : 'x';
  a.ffn_kinds = kinds;
}

/// Kimi Linear: the full layers by number, from 1.
std::string numbered_letters(const Fields& f, const Architecture& a) {
  const std::vector<double> full = f.section("linear_attn_config").counts("full_attn_layers");
  if (full.empty() || a.layers > 10000) return "";
  std::string letters(static_cast<size_t>(a.layers), 'l');
  for (double number : full)
    if (number >= 1 && number <= a.layers) letters[static_cast<size_t>(number) - 1] = 'f';
  return letters;
}

/// Bamba, LFM2: the attention layers by number, from 0; the others are Mamba-2 or convolutions.
std::string indexed_letters(const Fields& f, const Architecture& a) {
  if (a.layers > 10000) return "";
  std::string letters(static_cast<size_t>(a.layers), 'm');
  for (double index : f.counts(f.text("_attention_by_index").c_str()))
    if (index < a.layers) letters[static_cast<size_t>(index)] = 'f';
  return letters;
}

std::string hybrid_letters(const Fields& f, Architecture& a) {
  std::string letters = numbered_letters(f, a);
  if (!letters.empty()) return letters;
  if (f.has("_attention_by_index")) {
    letters = indexed_letters(f, a);
  } else if (f.has("hybrid_override_pattern")) {
    read_hybrid_pattern(f, a, &letters);
  } else if (f.has("layers_block_type")) {
    read_block_types(f, a, &letters);
  } else if (f.has("attn_type_list")) {  // MiniMax-01: 1 softmax, 0 lightning
    letters = letters_of_numbers(f, "attn_type_list", 1, 'f', 'l');
  } else if (f.has("hybrid_layer_pattern")) {  // MiMo-V2: 1 sliding
    letters = letters_of_numbers(f, "hybrid_layer_pattern", 1, 's', 'f');
  } else if (f.has("attn_layer_period")) {  // Jamba
    letters = period_of(f, "attn_layer_period", f.count("attn_layer_period"), 'm', f.count("attn_layer_offset"));
  } else if (f.has("full_attention_interval")) {  // Qwen3-Next
    const double period = f.count("full_attention_interval");
    letters = period_of(f, "full_attention_interval", period, 'l', period - 1);
  }
  return letters;
}

/// Qwen2's use_sliding_window: the first max_window_layers see everything.
std::string letters_above_full_layers(const Fields& f, const Architecture& a) {
  const double full = std::min(f.count("max_window_layers"), a.layers);
  if (a.layers > 10000) return "";
  std::string letters(static_cast<size_t>(full), 'f');
  letters.append(static_cast<size_t>(a.layers - full), 's');
  return letters;
}

/// A letter a layer, "" where all are alike.
std::string layer_letters(const Fields& f, Architecture& a) {
  if (f.given("layer_types") && f.has("layer_types")) return letters_of_types(f, a);
  if (std::string letters = hybrid_letters(f, a); !letters.empty()) return letters;
  if (f.has("no_rope_layers") && f.flag("_rope_is_local"))  // Llama 4: 1 = rotated and chunked, 0 = global
    if (std::string letters = letters_of_numbers(f, "no_rope_layers", 0, 'f', 's'); !letters.empty()) return letters;
  if (f.text("_window") == "above") return letters_above_full_layers(f, a);
  if (std::string letters = letters_of_pattern(f); !letters.empty()) return letters;
  return expand_pattern(f.text("_pattern"));
}

/// The window that attention really has: none where it is switched off, unknown to the class, or never reached.
double used_window(const Fields& f, const Architecture& a) {
  if (!f.has("_window") || !f.flag("use_sliding_window", true)) return 0;
  const double window = f.count("sliding_window");
  return a.max_positions > 0 && window >= a.max_positions ? 0 : window;
}

/// Full layers that have heads of their own (Gemma 4), or sliding ones that have (MiMo-V2: swa_*).
void read_global_attention(const Fields& f, Architecture& a) {
  if (f.has("swa_num_key_value_heads")) {
    const double sliding = f.count("swa_num_key_value_heads");
    a.global_kv_heads = sliding != a.kv_heads ? a.kv_heads : 0;
    a.kv_heads = sliding;
    return;
  }
  const double head_dim = f.count("global_head_dim");
  a.global_head_dim = head_dim != a.head_dim ? head_dim : 0;
  a.global_k_eq_v = f.flag("attention_k_eq_v");
  if (a.global_k_eq_v) a.global_kv_heads = f.count("num_global_key_value_heads");
}

/// Layers without keys and values of their own.
void read_shared_kv(const Fields& f, Architecture& a) {
  a.kv_shared_layers = f.count("num_kv_shared_layers");
  if (f.flag("use_cla")) a.kv_share_every = f.count("cla_share_factor", 1);
  if (!f.flag("use_double_wide_mlp") || a.kv_shared_layers == 0 || a.layers > 10000) return;
  a.ffn_per_layer.assign(static_cast<size_t>(a.layers), a.ffn);  // Gemma 4: twice as wide where KV is shared
  for (size_t i = 0; i < a.ffn_per_layer.size(); ++i)
    if (static_cast<double>(i) >= a.layers - a.kv_shared_layers) a.ffn_per_layer[i] *= 2;
}

/// Sparse attention's indexers, and the layers that do without one (GLM-5.2 shares them, MiniMax M3 starts dense).
void read_indexers(const Fields& f, Architecture& a) {
  a.index_heads = f.count("index_n_heads");
  if (a.index_heads == 0) return;
  a.index_head_dim = f.count("index_head_dim");
  a.index_topk = f.count("index_topk", f.count("index_topk_blocks") * f.count("index_block_size"));
  std::string pattern;
  for (const std::string& word : f.texts("indexer_types")) pattern += word == "shared" ? 'x' : 'f';
  for (double sparse : f.counts("sparse_attention_freq")) pattern += sparse > 0 ? 'f' : 'x';
  if (f.flag("_index_by_layer_type") && f.given("layer_types"))
    for (const std::string& word : f.texts("layer_types")) pattern += word == "full_attention" ? 'x' : 'f';
  if (pattern.find('x') != std::string::npos) a.index_pattern = pattern;
}

}  // namespace

void read_layer_kinds(const Fields& f, Architecture& a) {
  read_global_attention(f, a);
  read_shared_kv(f, a);
  read_indexers(f, a);
  std::string letters = layer_letters(f, a);
  a.window = used_window(f, a);
  const bool separate_globals = a.global_head_dim > 0 || a.global_kv_heads > 0;
  if (a.window == 0 && !separate_globals)
    for (char& letter : letters) letter = letter == 's' ? 'f' : letter;
  if (letters.empty() && f.text("_window") != "all") a.window = 0;
  // Spelled out to the last layer before it is shortened: 4m1f3m over 8 layers is not 4m1f.
  const size_t period = letters.size(), layers = static_cast<size_t>(std::min(a.layers, 10000.0));
  if (period > 0)
    for (size_t i = period; i < layers; ++i) letters += letters[i - period];
  if (layers > 0 && period > 0) letters.resize(layers);
  a.pattern = letters.empty() ? "" : shortest_pattern(letters);
  if (letters.find_first_not_of('f') == std::string::npos) {
    a.pattern.clear();
    a.window = letters.empty() ? a.window : 0;
  }
  if (!letters.empty() && letters.find_first_not_of('s') == std::string::npos) a.pattern.clear();
  if (!letters.empty() && letters.find('s') == std::string::npos) a.window = 0;
}

}  // namespace vram
