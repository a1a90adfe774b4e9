#include <algorithm>
#include <vector>

#include "engine/model/config_parts.h"
#include "engine/model/layer_shape.h"
#include "engine/model/stored_halves.h"

namespace vram {
namespace {

/// Which parts of a layer a module's name is about.
struct Half {
  bool attention = false, mlp = false, shared = false;
  bool dense = false, experts = false;  // of the MLP only where it has none, or some
  bool linear = false;                  // of attention only where it is linear
};

bool contains(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }
bool contains_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [text](std::string_view word) { return contains(text, word); });
}

bool is_router(std::string_view name) {
  return contains_any(name, {"router", ".gate.", "shared_expert_gate"}) || name.ends_with("gate") ||
         name.ends_with("gate$");
}

/// "model.layers.0.mlp.gate_proj" is no expert, "mlp.*" may be.
bool names_projections(std::string_view name) {
  return contains(name, "_proj") && !contains_any(name, {"mlp.*", "mlp\\..*"});
}

/// Of modules outside the decoder's layers, and of routers, which stay in 16 bit anyhow: none.
Half half_of(std::string_view name) {
  if (contains_any(name, {"vis", "lm_head", "embed", "audio", "mtp", "norm", "multi_modal"}) || is_router(name))
    return {};
  if (contains_any(name, {"in_proj_a", "in_proj_b", "in_proj_(a", "conv1d"})) return {};  // linear attention's smallest
  Half half;
  half.linear = contains(name, "linear_attn");
  if (contains_any(name, {"shared_expert", "shared_mlp"})) {
    half.shared = true;
  } else if (contains(name, "experts")) {
    half.mlp = half.experts = true;  // also of layers that call it their mixer (Nemotron-H)
  } else if (contains_any(name, {"attn", "attention", "mixer"})) {
    half.attention = true;
  } else if (contains_any(name, {"mlp", "expert", "feed_forward", "ffn"})) {
    half.mlp = true;
    half.dense = names_projections(name);
    half.shared = !half.dense;
  } else {
    half.attention = half.mlp = half.shared = contains_any(name, {"layers.", "layers\\."});
  }
  return half;
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

/// How each part of a model's layers is stored.
class StoredParts {
 public:
  explicit StoredParts(const Architecture& a)
      : a_(a),
        letters_(expand_pattern(a.pattern)),
        has_linear_(contains(letters_, "l")),
        layers_(static_cast<size_t>(a.layers)) {}

  void set_all(Stored way) {
    std::fill(layers_.begin(), layers_.end(), StoredHalves{way, way});
    shared_ = way;
  }
  /// Calls `set` with every part that a name is about.
  template <class Set>
  void for_named(std::string_view name, const Set& set) {
    const Half half = half_of(name);
    const int only = layer_of(name);
    if (half.shared && only < 0) set(shared_);
    const size_t first = only >= 0 ? static_cast<size_t>(only) : 0;
    const size_t end = only >= 0 ? std::min(first + 1, layers_.size()) : layers_.size();
    for (size_t i = first; i < end; ++i) {
      const LayerShape shape = layer_shape(a_, letters_, i);
      const bool routes = shape.ffn == FfnKind::moe, elsewhere = shape.mixer != Mixer::linear && has_linear_;
      if (half.attention && !(half.linear && elsewhere)) set(layers_[i].attention);
      if (half.mlp && !(half.dense && routes) && !(half.experts && !routes && a_.experts > 0)) set(layers_[i].mlp);
    }
  }
  void leave_out(std::string_view name) {
    for_named(name, [](Stored& part) { part = Stored::sixteen_bit; });
    if (const Half half = half_of(name); half.attention && !half.linear) note_output(name);
  }
  void put_into(Architecture& a) const {
    std::string letters;
    for (const StoredHalves& half : layers_) letters += letter_of(half);
    const std::string pattern = shortest_pattern(letters);
    a.unquantized = pattern == "1q" ? "" : pattern;
    a.unquantized_shared = shared_ == Stored::sixteen_bit && (a.shared_experts > 0 || a.shared_ffn > 0);
    a.quantized_output = inputs_named_ && !output_named_ && contains(a.unquantized, "a");
  }

 private:
  /// Lists of single projections say of attention's output projection, too, whether it is left out.
  void note_output(std::string_view name) {
    const bool whole = !contains(name, "_proj") || contains(name, "(");
    (whole || contains_any(name, {"o_proj", "out_proj"}) ? output_named_ : inputs_named_) = true;
  }

  const Architecture& a_;
  const std::string letters_;
  const bool has_linear_;
  std::vector<StoredHalves> layers_;
  Stored shared_ = Stored::as_format;
  bool inputs_named_ = false, output_named_ = false;
};

/// Of a part that is named more than once the wider counts.
void set_named(StoredParts& parts, std::string_view name, Stored way) {
  parts.for_named(name, [way](Stored& part) { part = part == Stored::sixteen_bit ? way : std::max(part, way); });
}

/// ModelOpt's MIXED_PRECISION names every module that is quantised and how (export/convert_hf_config.py); the rest is
/// not.
void read_quantised_layers(const Fields& named, StoredParts& parts) {
  parts.set_all(Stored::sixteen_bit);
  for (const std::string& name : named.names()) {
    const std::string algorithm = named.section(name.c_str()).text("quant_algo");
    const bool eight = (contains(algorithm, "FP8") && !algorithm.starts_with("W4")) || algorithm.starts_with("W8");
    set_named(parts, name, eight ? Stored::eight_bit : Stored::as_format);
  }
}

/// compressed-tensors' groups of modules by name, where one of them is not of every linear layer.
void read_targets(const Fields& groups, StoredParts& parts) {
  double fewest = 16;
  bool named = false;
  for (const std::string& name : groups.names()) {
    const Fields group = groups.section(name.c_str());
    fewest = std::min(fewest, group.section("weights").count("num_bits", 16));
    for (const std::string& target : group.texts("targets")) named = named || target != "Linear";
  }
  if (!named) return;
  parts.set_all(Stored::sixteen_bit);
  for (const std::string& name : groups.names()) {
    const Fields group = groups.section(name.c_str());
    const Stored way = group.section("weights").count("num_bits") > fewest ? Stored::eight_bit : Stored::as_format;
    for (const std::string& target : group.texts("targets"))
      target == "Linear" ? parts.set_all(way) : set_named(parts, target, way);
  }
}

/// GPTQModel's `dynamic` ("-:" before what is left out) and AutoRound's `extra_config` (16 bits of it).
void read_exceptions(const Fields& q, StoredParts& parts) {
  for (const std::string& name : q.section("dynamic").names())
    if (name.starts_with("-:")) parts.leave_out(name);
  const Fields extra = q.section("extra_config");
  for (const std::string& name : extra.names())
    if (extra.section(name.c_str()).number("bits") >= 16) parts.leave_out(name);
}

}  // namespace

void read_unquantized(const Fields& quantization, Architecture& a) {
  StoredParts parts(a);
  const Fields named = quantization.section("quantized_layers");
  if (!named.names().empty()) read_quantised_layers(named, parts);
  read_targets(quantization.section("config_groups"), parts);
  for (const char* list : kLeftOut)
    for (const std::string& name : quantization.texts(list)) parts.leave_out(name);
  read_exceptions(quantization, parts);
  parts.put_into(a);
}

}  // namespace vram
