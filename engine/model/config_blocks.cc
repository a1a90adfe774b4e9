#include <algorithm>
#include <cmath>

#include "engine/model/config_parts.h"
#include "engine/model/layer_shape.h"

namespace vram {
namespace {

/// Width of a DeciLM FFN: its multiple of hidden as in Llama 1's 2/3 rule, rounded up to 256
/// (configuration_decilm.py, _ffn_mult_to_intermediate_size).
double decilm_width(const Fields& ffn, const Architecture& a) {
  if (ffn.flag("no_op")) return 0;
  if (ffn.has("intermediate_size")) return ffn.count("intermediate_size");
  return std::ceil(std::floor(2 * ffn.number("ffn_mult") * a.hidden / 3) / 256) * 256;
}

bool all_equal(const std::vector<double>& values) {
  for (double value : values)
    if (value != values.front()) return false;
  return true;
}

}  // namespace

// block_configs of DeciLM (Nemotron 51B, Super and Ultra): per layer, heads in a group, width, or no operation at all.
void read_blocks(const Fields& f, Architecture& a) {
  if (!f.is_list("block_configs")) return;
  std::string letters;
  double shared_kv_heads = 0;
  for (const Fields& block : f.sections("block_configs")) {
    const Fields attention = block.section("attention"), ffn = block.section("ffn");
    if (attention.flag("replace_with_linear") || ffn.flag("replace_with_linear"))
      return f.fault("block_configs", "replace_with_linear is not modelled");
    const bool absent = attention.flag("no_op");
    const double group = attention.count("n_heads_in_group", 1);
    letters += absent ? 'x' : 'f';
    if (!absent && group > 0) shared_kv_heads = a.heads / group;
    a.kv_heads_per_layer.push_back(absent || group == 0 ? 0 : a.heads / group);
    a.ffn_per_layer.push_back(decilm_width(ffn, a));
    a.ffn = std::max(a.ffn, a.ffn_per_layer.back());
  }
  a.kv_heads = shared_kv_heads;
  for (double& heads : a.kv_heads_per_layer) heads = heads == 0 ? shared_kv_heads : heads;
  if (all_equal(a.kv_heads_per_layer)) a.kv_heads_per_layer.clear();
  a.pattern = letters.find('x') == std::string::npos ? "" : shortest_pattern(letters);
}

}  // namespace vram
