#include <cmath>
#include <cstdio>

#include "engine/model/faults.h"
#include "engine/model/layer_shape.h"

namespace vram {
namespace {

constexpr double kMostLayers = 10000;
constexpr double kLargestCount = 9007199254740992.0;  // 2^53: beyond it a double skips integers

struct Checker {
  const Architecture& a;
  std::vector<ModelFault>* faults;
  bool possible = true;

  void fault(const char* field, double given, const std::string& text) {
    possible = false;
    if (faults) faults->push_back({field, plain_number(given), text});
  }

  /// `part` of `whole` makes sense: both known, and the first divides the second.
  void divides(const char* field, double part, const char* whole_name, double whole) {
    if (part <= 0 || whole <= 0 || std::fmod(whole, part) == 0) return;
    fault(field, part, plain_number(part) + " does not divide " + whole_name + " (" + plain_number(whole) + ")");
  }
};

bool every_width_below(const Architecture& a, double limit) {
  for (double value : {a.layers, a.hidden, a.heads, a.kv_heads, a.head_dim, a.ffn, a.vocab, a.max_positions, a.experts,
                       a.expert_ffn, a.shared_ffn, a.extra_params, a.linear.inner, a.linear.state, a.mtp_layers})
    if (!(value <= limit)) return false;
  return true;
}

void check_attention(Checker& check) {
  const Architecture& a = check.a;
  if (a.kv_lora_rank <= 0 && a.head_dim <= 0 && a.linear.inner <= 0 && a.heads > 0 && a.hidden > 0 &&
      std::fmod(a.hidden, a.heads) != 0)
    check.fault("num_attention_heads", a.heads,
                plain_number(a.heads) + " heads do not divide hidden_size (" + plain_number(a.hidden) +
                    "), and head_dim is not given");
  if (a.kv_heads_per_layer.empty()) check.divides("num_key_value_heads", a.kv_heads, "num_attention_heads", a.heads);
  check.divides("num_global_key_value_heads", a.global_kv_heads, "num_attention_heads", a.heads);
  if (a.kv_lora_rank > 0 && a.nope_head_dim + a.rope_head_dim <= 0)
    check.fault("kv_lora_rank", a.kv_lora_rank, "latent attention needs qk_nope_head_dim and qk_rope_head_dim");
  if (a.q_lora_rank > 0 && a.kv_lora_rank <= 0)
    check.fault("q_lora_rank", a.q_lora_rank, "latent attention needs kv_lora_rank too");
}

void check_experts(Checker& check) {
  const Architecture& a = check.a;
  if (a.experts_per_token > a.experts)
    check.fault("num_experts_per_tok", a.experts_per_token,
                "more than there are experts (" + plain_number(a.experts) + ")");
  if (a.layers > 0 && a.dense_layers > a.layers)
    check.fault("first_k_dense_replace", a.dense_layers, "more than there are layers (" + plain_number(a.layers) + ")");
}

void check_layers(Checker& check) {
  const Architecture& a = check.a;
  if (a.layers > kMostLayers) check.fault("num_hidden_layers", a.layers, "at most 10000 layers are modelled");
  if (a.mtp_layers > kMostLayers) check.fault("num_nextn_predict_layers", a.mtp_layers, "at most 10000 are modelled");
  if (!a.pattern.empty() && expand_pattern(a.pattern).empty()) {
    check.possible = false;
    if (check.faults)
      check.faults->push_back({"pattern", a.pattern,
                               "a repeating run of layer kinds such as 5s1f: s sliding, f full, "
                               "l linear attention, m state space, x none"});
  }
  if (!every_width_below(a, kLargestCount)) check.fault("hidden_size", a.hidden, "beyond 2^53");
}

/// What the layers of the architecture are made of.
struct Ingredients {
  bool attention = false, linear = false, dense = false, moe = false;
};

Ingredients ingredients_of(const Architecture& a) {
  Ingredients found;
  const std::string letters = expand_pattern(a.pattern);
  for (size_t i = 0; i < static_cast<size_t>(a.layers); ++i) {
    const LayerShape shape = layer_shape(a, letters, i);
    const bool linear = shape.mixer == Mixer::linear || shape.mixer == Mixer::state_space;
    found.linear = found.linear || linear;
    found.attention = found.attention || shape.mixer == Mixer::full || shape.mixer == Mixer::sliding;
    found.dense = found.dense || (shape.ffn == FfnKind::dense && a.ffn_per_layer.empty());
    found.moe = found.moe || shape.ffn == FfnKind::moe;
  }
  return found;
}

}  // namespace

std::string plain_number(double value) {
  char text[32];
  const bool integral = std::fabs(value) < 1e15 && value == std::floor(value);
  std::snprintf(text, sizeof text, integral ? "%.0f" : "%g", value);
  return text;
}

Completeness check_architecture(const Architecture& a, std::vector<ModelFault>* faults) {
  Checker check{a, faults};
  check_layers(check);
  check_attention(check);
  check_experts(check);
  Completeness known;
  if (!check.possible || a.layers < 1) return known;
  known.layers = true;
  const Ingredients parts = ingredients_of(a);
  const bool heads_known = a.heads > 0 && (a.kv_lora_rank > 0 || head_dim_of(a) > 0);
  known.kv_shape = !parts.attention || heads_known;
  const bool mixers_known = known.kv_shape && (!parts.linear || !a.linear.kind.empty() || heads_known);
  const bool ffn_known = (!parts.dense || a.ffn > 0) && (!parts.moe || a.expert_ffn > 0 || a.ffn > 0);
  known.shape = mixers_known && ffn_known && a.hidden > 0 && a.vocab > 0;
  return known;
}

}  // namespace vram
