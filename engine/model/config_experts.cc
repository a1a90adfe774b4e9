#include "engine/model/config_parts.h"
#include "engine/model/layer_shape.h"

namespace vram {
namespace {

/// "dddee...": which layers are dense (d) and which have experts (e), where a file lists them one by one.
std::string listed_ffn_kinds(const Fields& f, const Architecture& a) {
  std::string kinds;
  if (f.is_list("moe_layer_freq")) {
    for (double value : f.counts("moe_layer_freq")) kinds += value > 0 ? 'e' : 'd';
  } else if (f.has("mlp_layer_types")) {
    for (const std::string& word : f.texts("mlp_layer_types")) kinds += word == "sparse" || word == "moe" ? 'e' : 'd';
  } else if (f.has("mlp_only_layers") && a.layers <= 10000) {
    const std::vector<double> dense = f.counts("mlp_only_layers");
    if (dense.empty()) return "";
    kinds.assign(static_cast<size_t>(a.layers), 'e');
    for (double layer : dense)
      if (layer < a.layers) kinds[static_cast<size_t>(layer)] = 'd';
  } else if (f.has("moe_layers") && a.layers <= 10000) {
    kinds.assign(static_cast<size_t>(a.layers), 'd');
    for (double layer : f.counts("moe_layers"))
      if (layer < a.layers) kinds[static_cast<size_t>(layer)] = 'e';
  }
  return kinds;
}

/// Every n-th layer, said in the families' five ways.
void read_frequency(const Fields& f, Architecture& a) {
  double every = 1, offset = 0;
  if (!f.is_list("moe_layer_freq")) every = f.count("moe_layer_freq", 1);
  for (const char* field : {"decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval"}) {
    if (!f.has(field)) continue;
    every = f.count(field, 1);  // layer i has experts iff (i + 1) % every == 0
    offset = every - 1;
  }
  if (f.has("expert_layer_period")) {  // Jamba
    every = f.count("expert_layer_period", 1);
    offset = f.count("expert_layer_offset");
  }
  if (every <= 1) return;
  a.moe_every = every;
  a.moe_offset = offset;
}

void read_which_layers(const Fields& f, Architecture& a) {
  a.dense_layers = f.count("first_k_dense_replace");
  read_frequency(f, a);
  const std::string kinds = listed_ffn_kinds(f, a);
  if (kinds.empty()) return;
  const size_t first = kinds.find('e');
  const bool only_first_are_dense = first != std::string::npos && kinds.find('d', first) == std::string::npos;
  a.moe_every = a.moe_offset = 0;
  a.dense_layers = only_first_are_dense ? static_cast<double>(first) : 0;
  if (!only_first_are_dense) a.ffn_kinds = kinds;
}

void read_shared(const Fields& f, Architecture& a) {
  const double width = f.count("shared_expert_intermediate_size");
  a.shared_experts = f.count("n_shared_experts", width > 0 ? 1 : 0);
  if (f.has("use_mixed_mlp_moe") && !f.flag("use_mixed_mlp_moe")) a.shared_experts = 0;  // Hunyuan
  if (f.flag("_dense_beside_experts")) {  // Gemma 4: the dense MLP runs in every layer, beside the experts
    a.shared_experts = 1;
    a.shared_ffn = a.ffn;
    return;
  }
  a.shared_ffn = a.shared_experts * (width > 0 ? width : a.expert_ffn);
  if (a.shared_ffn == 0) a.shared_experts = 0;
}

/// Routing that first chooses groups of experts, then experts among them: fewer nodes for a token to go to.
void read_groups(const Fields& f, Architecture& a) {
  const double groups = f.count("n_group"), chosen = f.count("topk_group");
  if (groups <= 1 || chosen <= 0 || chosen >= groups) return;
  a.expert_groups = groups;
  a.groups_per_token = chosen;
}

}  // namespace

void read_experts(const Fields& f, Architecture& a) {
  a.experts = f.count("num_local_experts");
  if (f.has("enable_moe_block") && !f.flag("enable_moe_block")) a.experts = 0;
  if (a.experts <= 1) {  // one expert is an ordinary FFN
    a.experts = 0;
    a.router_correction_bias = a.router_bias = a.shared_expert_gate = a.expert_bias = a.router_scales = false;
    if (f.flag("_shared_alone")) a.ffn = f.count("shared_expert_intermediate_size", a.ffn);
    return;
  }
  a.experts_per_token = f.count("num_experts_per_tok", 1);
  a.expert_ffn = f.count("moe_intermediate_size", f.count("intermediate_size"));
  read_groups(f, a);
  read_which_layers(f, a);
  read_shared(f, a);
  a.norms_per_layer += f.count("_extra_norms_with_experts");
  a.moe_latent = f.count("moe_latent_size");
  if (f.has("topk_method")) a.router_correction_bias = f.text("topk_method") == "noaux_tc";
  if (f.has("_router_bias_field")) a.router_correction_bias = f.decided("_router_bias_field");
}

}  // namespace vram
