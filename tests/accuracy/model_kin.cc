#include "tests/accuracy/model_kin.h"

#include <algorithm>
#include <cstdlib>

#include "engine/preset_table.h"
#include "engine/text.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

/// Names as their publishers write them. `keys` begins with the preset, then what differs from it; a tower is the
/// difference between the two published parameter counts.
struct Kin {
  const char* said;
  const char* keys;
};

constexpr Kin kKin[] = {
    // Llama
    {"distill-llama-8b", "llama-3.1-8b"},
    {"distill-llama-70b", "llama-3.3-70b"},
    {"codellama-7b", "llama-2-7b"},
    {"codellama-13b", "llama-2-13b"},
    {"llama-7b", "llama-1-7b"},
    {"llama-8b", "llama-3.1-8b"},  // a size of one shape, whatever its generation
    {"llama-70b", "llama-2-70b"},
    {"llama-2-7b", "llama-2-7b"},
    {"llama-13b", "llama-1-13b"},
    {"llama-2-13b", "llama-2-13b"},
    {"llama-3.x 70b", "llama-3.1-70b"},
    {"llama-guard-3-8b", "llama-3.1-8b"},
    {"llama-guard-3-1b", "llama-3.2-1b"},
    {"vicuna-7b", "llama-2-7b"},
    {"vicuna-13b", "llama-2-13b"},
    {"llava-1.5-7b", "llama-2-7b&extra_params=324600000"},
    {"llava-1.5-13b", "llama-2-13b&extra_params=334800000"},
    {"llava-v1.5-7b", "llama-2-7b&extra_params=324600000"},
    {"llava-v1.5-13b", "llama-2-13b&extra_params=334800000"},
    {"llava-v1.6-34b", "yi-34b"},
    {"hermes-3-llama-3.2-3b", "llama-3.2-3b"},
    {"llama3.2-vision:11b", "llama-3.1-8b"},  // below layers that look at an image
    {"solar-pro", ""},
    // Mistral
    {"mistral-7b-instruct", "mistral-7b-v0.3"},  // of no release: the newest
    {"mistral-7b-instruct-v0.1", "mistral-7b-v0.1"},
    {"mistral-7b-instruct-v0.2", "mistral-7b-v0.1&window=0"},
    {"mistral-7b-v0.2", "mistral-7b-v0.1&window=0"},
    {"mistral-7b-instruct-v0.3", "mistral-7b-v0.3"},
    {"zephyr-7b", "mistral-7b-v0.1"},
    {"openhermes-2.5", "mistral-7b-v0.1"},
    {"starling-lm-7b", "mistral-7b-v0.1"},
    {"openchat-3.5", "mistral-7b-v0.1"},
    {"gritlm-7b", "mistral-7b-v0.1"},
    {"e5-mistral-7b", "mistral-7b-v0.1"},
    {"llava-v1.6-mistral-7b", "mistral-7b-v0.1&window=0&extra_params=324600000"},
    {"mistral-nemo", "mistral-nemo-12b"},
    {"pixtral-12b", "mistral-nemo-12b&extra_params=438000000"},
    {"mistral-large", "mistral-large-123b-2407"},
    {"mistral-large-3", ""},
    {"codestral-22b", "mistral-small-22b-2409"},
    {"mistral-small-24b", "mistral-small-24b-2501"},
    {"mistral-small-3.1", "mistral-small-3.2-24b"},
    {"devstral-small", "mistral-small-24b-2501&max_positions=131072"},
    {"magistral-small", "mistral-small-24b-2501&max_positions=40960"},
    // Qwen
    {"distill-qwen-7b", "qwen2.5-7b"},
    {"distill-qwen-14b", "qwen2.5-14b"},
    {"distill-qwen-32b", "qwen2.5-32b"},
    {"dolphin-qwen2-72b", "qwen2-72b"},
    {"reranker-0.6b", "qwen3-0.6b"},
    {"reranker-4b", "qwen3-4b"},
    {"reranker-8b", "qwen3-8b"},
    {"diffusiongemma-26b-a4b", "gemma-4-26b-a4b"},
    {"qwen3.6-27b", "qwen3.5-27b"},
    {"qwen3.8-27b", "qwen3.5-27b"},
    {"qwen3.6-35b-a3b", "qwen3.5-35b-a3b"},
    {"qwen3-coder-next", "qwen3-next-80b-a3b"},
    {"qwen2.5-math-1.5b", "qwen2.5-1.5b&max_positions=4096"},
    {"qwen2.5-math-7b", "qwen2.5-7b&max_positions=4096"},
    {"qwen2.5-math-72b", "qwen2.5-72b&max_positions=4096"},
    {"qwen2-vl-2b", "qwen2-1.5b&extra_params=665271296"},
    {"qwen2-vl-7b", "qwen2-7b&extra_params=675759104"},
    {"qwen2-vl-72b", "qwen2-72b&extra_params=699572224"},
    {"qwen2.5-vl-3b", "qwen2.5-3b&extra_params=668684288&max_positions=128000"},
    {"qwen2.5-vl-7b", "qwen2.5-7b&extra_params=676550144&max_positions=128000"},
    {"qwen2.5-vl-32b", "qwen2.5-32b&extra_params=688841984&max_positions=128000"},
    {"qwen2.5-vl-72b", "qwen2.5-72b&extra_params=704573696&max_positions=128000"},
    {"ui-tars-7b", "qwen2-7b&extra_params=675759104"},
    {"ui-tars-1.5-7b", "qwen2.5-7b&extra_params=676550144"},
    {"qwen2.5-omni-7b", "qwen2.5-7b&extra_params=1316000000"},
    {"qwen3-vl-2b", "qwen3-1.7b&extra_params=406957056&max_positions=262144"},
    {"qwen3-vl-4b", "qwen3-4b&extra_params=415347712&max_positions=262144"},
    {"qwen3-vl-8b", "qwen3-8b&extra_params=576388336&max_positions=262144"},
    {"qwen3-vl-32b", "qwen3-32b&extra_params=594710000&max_positions=262144"},
    {"qwen3-vl-30b-a3b", "qwen3-30b-a3b&extra_params=538631664&max_positions=262144"},
    {"qwen3-vl-235b-a22b", "qwen3-235b-a22b&extra_params=576000000&max_positions=262144"},
    // DeepSeek, as Ollama's tags name its distilled sizes
    {"deepseek-r1:7b", "qwen2.5-7b"},
    {"deepseek-r1:14b", "qwen2.5-14b"},
    {"deepseek-r1:32b", "qwen2.5-32b"},
    {"deepseek-r1:70b", "llama-3.3-70b"},
    {"deepseek-r1:671b", "deepseek-r1"},
    {"deepseek-coder-v2-lite", "deepseek-v2-lite"},
    {"deepseek-coder-v2:16b", "deepseek-v2-lite"},
    {"deepseek-coder-v2", "deepseek-v2"},
    {"deepseek-v2.5", "deepseek-v2"},
    {"deepseek-v4", ""},  // another architecture
    // Kimi, GLM
    {"kimi-k2.5", "kimi-k2"},
    {"kimi-k2.6", "kimi-k2"},
    {"glm-4.7", "glm-4.6"},
    {"glm-4.5v", "glm-4.5-air"},
    {"glm-4.6v-flash", ""},
    {"glm-4.6v", "glm-4.5-air"},
    {"glm-5.1", "glm-5"},
    {"codegeex4", "glm-4-9b"},  // huggingface.co/THUDM/codegeex4-all-9b, config.json
    // Microsoft, IBM and others
    {"phi-3-mini-128k", "phi-3-mini-4k&window=0&max_positions=131072"},
    {"phi-3.5-mini", "phi-3-mini-4k&window=0&max_positions=131072"},
    {"phi-3-medium-128k", "phi-3-medium-4k&window=0&max_positions=131072"},
    {"phi-4-multimodal", "phi-4-mini"},
    {"granite-3.0-2b", "granite-3.1-2b&max_positions=4096"},
    {"granite-3.0-8b", "granite-3.1-8b&max_positions=4096"},
    {"granite-3.0-1b-a400m", "granite-3.1-1b-a400m&max_positions=4096"},
    {"granite-3.0-3b-a800m", "granite-3.1-3b-a800m&max_positions=4096"},
    {"granite-3.2-2b", "granite-3.1-2b"},
    {"granite-3.2-8b", "granite-3.1-8b"},
    {"gemma-1.1-2b", "gemma-2b"},
    {"gemma-1.1-7b", "gemma-7b"},
    {"medgemma-27b-text", "gemma-3-27b&extra_params=0"},
    {"medgemma-27b", "gemma-3-27b"},
    {"medgemma-4b", "gemma-3-4b"},
    {"meralion-2-10b", "gemma-2-9b&extra_params=864729344"},
    {"reader-lm-0.5b", "qwen2-0.5b&max_positions=256000"},
    {"reader-lm-1.5b", "qwen2-1.5b&max_positions=256000"},
    {"olmo-2-0425-1b", "olmo-2-1b"},
    {"olmo-2-1124-7b", "olmo-2-7b"},
    {"olmo-2-1124-13b", "olmo-2-13b"},
    {"olmo-2-0325-32b", "olmo-2-32b"},
    {"internlm2_5-7b", "internlm2-7b"},
    {"internlm2_5-20b", "internlm2-20b"},
    {"yi-1.5-6b", "yi-6b"},
    {"yi-1.5-9b", "yi-9b"},
    {"yi-1.5-34b", "yi-34b"},
    {"command-r-v01", "command-r-35b"},
    {"command-r-plus", "command-r-plus-104b"},
    {"jamba-v0.1", "jamba-v0.1-52b"},
    {"nemotron-nano-8b", "llama-3.1-8b"},
    {"nemotron-super-49b", "llama-3.3-nemotron-super-49b"},
};

struct Published {
  const char* said;
  const char* config;
};

constexpr Published kPublished[] = {
    {"kimi-linear-48b", R"({"model_type":"kimi_linear","hidden_size":2304,"intermediate_size":9216,
      "num_hidden_layers":27,"num_attention_heads":32,"vocab_size":163840,"kv_lora_rank":512,"qk_nope_head_dim":128,
      "qk_rope_head_dim":64,"v_head_dim":128,"moe_intermediate_size":1024,"num_experts":256,"num_experts_per_token":8,
      "num_shared_experts":1,"first_k_dense_replace":1,"tie_word_embeddings":false,"linear_attn_config":{
      "full_attn_layers":[4,8,12,16,20,24,27],"num_heads":32,"head_dim":128,"short_conv_kernel_size":4,
      "kda_layers":[1,2,3,5,6,7,9,10,11,13,14,15,17,18,19,21,22,23,25,26]}})"},
    {"qwen3.5 small", R"({"model_type":"qwen3_5_text","hidden_size":2048,"intermediate_size":6144,
      "num_hidden_layers":24,"num_attention_heads":8,"num_key_value_heads":2,"head_dim":256,"vocab_size":248320,
      "full_attention_interval":4,"linear_conv_kernel_dim":4,"linear_key_head_dim":128,"linear_value_head_dim":128,
      "linear_num_key_heads":16,"linear_num_value_heads":16,"attn_output_gate":true,"tie_word_embeddings":true,
      "max_position_embeddings":262144,"partial_rotary_factor":0.25})"},
    {"qwen3.5-0.8b", R"({"model_type":"qwen3_5_text","vision_config":{"depth":12,"hidden_size":768,
      "intermediate_size":3072,"out_hidden_size":1024,"patch_size":16,"temporal_patch_size":2,"spatial_merge_size":2,
      "in_channels":3,"num_position_embeddings":2304,"num_heads":12},"hidden_size":1024,"intermediate_size":3584,
      "num_hidden_layers":24,"num_attention_heads":8,"num_key_value_heads":2,"head_dim":256,"vocab_size":248320,
      "full_attention_interval":4,"linear_conv_kernel_dim":4,"linear_key_head_dim":128,"linear_value_head_dim":128,
      "linear_num_key_heads":16,"linear_num_value_heads":16,"attn_output_gate":true,"tie_word_embeddings":true,
      "max_position_embeddings":262144,"partial_rotary_factor":0.25})"},
    {"qwen3.5-4b",
     R"({"model_type":"qwen3_5_text","mtp_num_hidden_layers":1,"vision_config":{"depth":24,"hidden_size":1024,"intermediate_size":4096,
      "out_hidden_size":2560,"patch_size":16,"temporal_patch_size":2,"spatial_merge_size":2,"in_channels":3,
      "num_position_embeddings":2304,"num_heads":16},"hidden_size":2560,"intermediate_size":9216,
      "num_hidden_layers":32,"num_attention_heads":16,"num_key_value_heads":4,"head_dim":256,"vocab_size":248320,
      "full_attention_interval":4,"linear_conv_kernel_dim":4,"linear_key_head_dim":128,"linear_value_head_dim":128,
      "linear_num_key_heads":16,"linear_num_value_heads":32,"attn_output_gate":true,"tie_word_embeddings":true,
      "max_position_embeddings":262144,"partial_rotary_factor":0.25})"},
    {"qwen3.5-9b",
     R"({"model_type":"qwen3_5_text","mtp_num_hidden_layers":1,"vision_config":{"depth":27,"hidden_size":1152,"intermediate_size":4304,
      "out_hidden_size":4096,"patch_size":16,"temporal_patch_size":2,"spatial_merge_size":2,"in_channels":3,
      "num_position_embeddings":2304,"num_heads":16},"hidden_size":4096,"intermediate_size":12288,
      "num_hidden_layers":32,"num_attention_heads":16,"num_key_value_heads":4,"head_dim":256,"vocab_size":248320,
      "full_attention_interval":4,"linear_conv_kernel_dim":4,"linear_key_head_dim":128,"linear_value_head_dim":128,
      "linear_num_key_heads":16,"linear_num_value_heads":32,"attn_output_gate":true,"tie_word_embeddings":false,
      "max_position_embeddings":262144,"partial_rotary_factor":0.25})"},
    {"qwen-7b", R"({"model_type":"qwen","hidden_size":4096,"intermediate_size":22016,"num_hidden_layers":32,
      "num_attention_heads":32,"vocab_size":151936,"seq_length":8192,"no_bias":true,"tie_word_embeddings":false})"},
    {"distill-qwen-1.5b", R"({"model_type":"qwen2","hidden_size":1536,"intermediate_size":8960,
      "num_hidden_layers":28,"num_attention_heads":12,"num_key_value_heads":2,"vocab_size":151936,
      "tie_word_embeddings":false,"max_position_embeddings":131072})"},
    // The model cards: a vision encoder of 150 and an audio encoder of 300 million parameters.
    {"gemma-4-e2b", R"({"model_type":"gemma4_text","tower":450000000,"hidden_size":1536,"intermediate_size":6144,
      "num_hidden_layers":35,"num_attention_heads":8,"num_key_value_heads":1,"head_dim":256,"global_head_dim":512,
      "num_kv_shared_layers":20,"use_double_wide_mlp":true,"vocab_size":262144,"vocab_size_per_layer_input":262144,
      "hidden_size_per_layer_input":256,"sliding_window":512,"sliding_window_pattern":5,
      "max_position_embeddings":131072,"tie_word_embeddings":true})"},
    {"gemma-4-e4b", R"({"model_type":"gemma4_text","tower":450000000,"hidden_size":2560,"intermediate_size":10240,
      "num_hidden_layers":42,"num_attention_heads":8,"num_key_value_heads":2,"head_dim":256,"global_head_dim":512,
      "num_kv_shared_layers":18,"vocab_size":262144,"vocab_size_per_layer_input":262144,
      "hidden_size_per_layer_input":256,"sliding_window":512,"sliding_window_pattern":6,
      "max_position_embeddings":131072,"tie_word_embeddings":true})"},
    {"gemma-4-12b", R"({"model_type":"gemma4_text","hidden_size":3840,"intermediate_size":15360,
      "num_hidden_layers":48,"num_attention_heads":16,"num_key_value_heads":8,"head_dim":256,"global_head_dim":512,
      "num_global_key_value_heads":1,"attention_k_eq_v":true,"hidden_size_per_layer_input":0,"vocab_size":262144,"sliding_window":1024,
      "sliding_window_pattern":6,"max_position_embeddings":262144,"tie_word_embeddings":true})"},
    {"glm-4.7-flash", R"({"model_type":"glm4_moe_lite","hidden_size":2048,"intermediate_size":10240,
      "num_hidden_layers":47,"num_attention_heads":20,"vocab_size":154880,"q_lora_rank":768,"kv_lora_rank":512,
      "qk_nope_head_dim":192,"qk_rope_head_dim":64,"v_head_dim":256,"moe_intermediate_size":1536,
      "n_routed_experts":64,"num_experts_per_tok":4,"n_shared_experts":1,"first_k_dense_replace":1,
      "tie_word_embeddings":false,"max_position_embeddings":202752})"},
    {"deepseek-coder-6.7b", R"({"model_type":"llama","hidden_size":4096,"intermediate_size":11008,
      "num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"vocab_size":32256,
      "tie_word_embeddings":false,"max_position_embeddings":16384})"},
    {"deepseek-coder-33b", R"({"model_type":"llama","hidden_size":7168,"intermediate_size":19200,
      "num_hidden_layers":62,"num_attention_heads":56,"num_key_value_heads":8,"vocab_size":32256,
      "tie_word_embeddings":false,"max_position_embeddings":16384})"},
    {"solar-10.7b", R"({"model_type":"llama","hidden_size":4096,"intermediate_size":14336,
      "num_hidden_layers":48,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":32000,
      "tie_word_embeddings":false,"max_position_embeddings":4096})"},
    {"internlm-7b", R"({"model_type":"llama","hidden_size":4096,"intermediate_size":11008,
      "num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"vocab_size":103168,
      "tie_word_embeddings":false,"attention_bias":true,"max_position_embeddings":2048})"},
    {"internlm-chat-7b", R"({"model_type":"llama","hidden_size":4096,"intermediate_size":11008,
      "num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"vocab_size":103168,
      "tie_word_embeddings":false,"attention_bias":true,"max_position_embeddings":2048})"},
    {"granite-8b-code", R"({"model_type":"llama","hidden_size":4096,"intermediate_size":14336,
      "num_hidden_layers":36,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":49152,
      "tie_word_embeddings":true,"attention_bias":true,"mlp_bias":true,"max_position_embeddings":4096})"},
    {"granite-4.0-h-micro", R"({"model_type":"granitemoehybrid","hidden_size":2048,"shared_intermediate_size":8192,
      "num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":100352,"num_local_experts":0,
      "num_experts_per_tok":0,"mamba_n_heads":64,"mamba_d_head":64,"mamba_d_state":128,"mamba_n_groups":1,
      "mamba_expand":2,"mamba_d_conv":4,"tie_word_embeddings":true,"max_position_embeddings":131072,
      "position_embedding_type":"nope","layer_types":["mamba","mamba","mamba","mamba","mamba","attention","mamba",
      "mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","attention","mamba","mamba","mamba","mamba",
      "mamba","mamba","mamba","mamba","mamba","attention","mamba","mamba","mamba","mamba","mamba","mamba","mamba",
      "mamba","mamba","attention","mamba","mamba","mamba","mamba"]})"},
    {"lfm2-350m", R"({"model_type":"lfm2","hidden_size":1024,"intermediate_size":6656,"num_hidden_layers":16,
      "num_attention_heads":16,"num_key_value_heads":8,"vocab_size":65536,"max_position_embeddings":128000,
      "full_attn_idxs":[2,5,8,10,12,14]})"},
    {"lfm2-700m", R"({"model_type":"lfm2","hidden_size":1536,"intermediate_size":10240,"num_hidden_layers":16,
      "num_attention_heads":24,"num_key_value_heads":8,"vocab_size":65536,"max_position_embeddings":128000,
      "full_attn_idxs":[2,5,8,10,12,14]})"},
    {"lfm2-1.2b", R"({"model_type":"lfm2","hidden_size":2048,"intermediate_size":12288,"num_hidden_layers":16,
      "num_attention_heads":32,"num_key_value_heads":8,"vocab_size":65536,"max_position_embeddings":128000,
      "full_attn_idxs":[2,5,8,10,12,14]})"},
    {"lfm2-2.6b", R"({"model_type":"lfm2","hidden_size":2048,"intermediate_size":10752,"num_hidden_layers":30,
      "num_attention_heads":32,"num_key_value_heads":8,"vocab_size":65536,"max_position_embeddings":128000,
      "block_auto_adjust_ff_dim":false,"full_attn_idxs":[2,5,9,13,17,21,24,27]})"},
    {"lfm2-8b-a1b", R"({"model_type":"lfm2_moe","hidden_size":2048,"intermediate_size":7168,"num_hidden_layers":24,
      "num_attention_heads":32,"num_key_value_heads":8,"vocab_size":65536,"max_position_embeddings":128000,
      "num_experts":32,"num_experts_per_tok":4,"moe_intermediate_size":1792,"num_dense_layers":2,
      "full_attn_idxs":[2,6,10,14,18,21]})"},
    {"mimo-7b", R"({"model_type":"mimo","hidden_size":4096,"intermediate_size":11008,"num_hidden_layers":36,
      "num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"vocab_size":151680,
      "tie_word_embeddings":false,"max_position_embeddings":32768})"},
};

/// The row of the longest name within `name`; null where there is none.
template <class Row, size_t count>
const Row* longest(const Row (&rows)[count], const std::string& name) {
  const Row* best = nullptr;
  size_t length = 0;
  for (const Row& row : rows) {
    const std::string said = compact(row.said);
    if (said.size() <= length || !holds(name, said)) continue;
    best = &row;
    length = said.size();
  }
  return best;
}

}  // namespace

bool set_kin(Share& share, const std::string& name) {
  const Kin* row = longest(kKin, name);
  const Published* config = longest(kPublished, name);
  if (row == nullptr || (config != nullptr && compact(config->said).size() > compact(row->said).size())) return false;
  std::string keys = "model=" + std::string(row->keys);
  if (keys == "model=") return true;
  for (size_t at = 0; at < keys.size();) {
    const size_t end = std::min(keys.find('&', at), keys.size()), is = keys.find('=', at);
    share.set(keys.substr(at, is - at), keys.substr(is + 1, end - is - 1));
    at = end + 1;
  }
  return true;
}

/// LFM2.5's checkpoints are LFM2's shapes, trained on (huggingface.co/LiquidAI/LFM2.5-350M, config.json).
std::string first_generation(const std::string& name) {
  const size_t at = lower(name).find("lfm2.5");
  return at == std::string::npos ? name : name.substr(0, at) + "lfm2" + name.substr(at + 6);
}

namespace {

std::string without_points(const std::string& name) {
  std::string out = compact(name);
  out.erase(std::remove(out.begin(), out.end(), '.'), out.end());
  return out;
}

}  // namespace

std::string spelled(const std::string& name) {
  const std::string wanted = without_points(name);
  for (const Kin& row : kKin)
    if (without_points(row.said) == wanted) return row.said;
  for (const PresetRow& row : model_presets())
    if (without_points(std::string(row.id)) == wanted) return std::string(row.id);
  return "";
}

std::string published_config(const std::string& name) {
  const Published* row = longest(kPublished, first_generation(name));
  return row == nullptr ? "" : row->config;
}

double stated_billions(const std::string& name) {
  const std::string all = lower(name);
  for (size_t i = 0; i < all.size(); ++i) {
    const bool begins = is_digit(all[i]) && (i == 0 || !is_alphanumeric(all[i - 1])) && (i == 0 || all[i - 1] != '.');
    if (!begins) continue;
    size_t end = i;
    while (end < all.size() && (is_digit(all[end]) || all[end] == '.')) ++end;
    if (end < all.size() && all[end] == 'b' && (end + 1 == all.size() || !is_alphanumeric(all[end + 1])))
      return std::strtod(all.substr(i, end - i).c_str(), nullptr);
    i = end;
  }
  return 0;
}

}  // namespace vram::accuracy
