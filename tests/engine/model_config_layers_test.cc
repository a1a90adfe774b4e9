#include <algorithm>

#include "model_samples.h"

using namespace vram;
using namespace model_samples;

namespace {

/// The share of a preset's text from `from` up to `to`, replaced.
std::string respelled(std::string_view json, std::string_view from, std::string_view to, std::string_view with) {
  const size_t begin = json.find(from), end = json.find(to, begin + from.size());
  REQUIRE(end != std::string_view::npos);
  return std::string(json.substr(0, begin)) + std::string(with) + std::string(json.substr(end));
}

}  // namespace

TEST_CASE("Nemotron-H's layers as words and as letters are the same model") {
  const std::string_view letters = preset_json("nemotron-3-nano-30b-a3b");
  std::string words = "\"layers_block_type\": [";
  for (char c : std::string_view("MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"))
    words += std::string(words.back() == '[' ? "" : ",") + (c == 'M'   ? "\"mamba\""
                                                            : c == '*' ? "\"attention\""
                                                                       : "\"moe\"");
  const std::string spelled = respelled(letters, "\"hybrid_override_pattern\"", ",", words + "]");
  CHECK(model_of(spelled).exact_parameters == model_of(letters).exact_parameters);
  CHECK(read_config(spelled).architecture.ffn_kinds == read_config(letters).architecture.ffn_kinds);
  CHECK(read_config(spelled).architecture.pattern == read_config(letters).architecture.pattern);
}

TEST_CASE("MiMo-V2: window layers have heads of their own") {
  // XiaomiMiMo/MiMo-V2-Flash, config.json; 309B are published
  const Model model = model_of(R"({"architectures":["MiMoV2FlashForCausalLM"],"model_type":"mimo_v2_flash",
    "hidden_size":4096,"intermediate_size":16384,"moe_intermediate_size":2048,"num_hidden_layers":48,
    "num_attention_heads":64,"num_key_value_heads":4,"head_dim":192,"v_head_dim":128,"swa_num_attention_heads":64,
    "swa_num_key_value_heads":8,"swa_head_dim":192,"swa_v_head_dim":128,"sliding_window":128,"n_routed_experts":256,
    "num_experts_per_tok":8,"n_shared_experts":null,"vocab_size":152576,"tie_word_embeddings":false,
    "hybrid_layer_pattern":[0,1,1,1,1,0,1,1,1,1,1,0,1,1,1,1,1,0,1,1,1,1,1,0,1,1,1,1,1,0,1,1,1,1,1,0,1,1,1,1,1,0,1,1,
    1,1,1,0],"moe_layer_freq":[0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,
    1,1,1,1,1,1]})");
  const double heads = 9 * (64.0 + 4) * (192 + 128) + 39 * (64.0 + 8) * (192 + 128);  // Q and O, K and V
  const double experts = 47 * (256 * (3.0 * 4096 * 2048 + 4096) + 256);               // and the router and its bias
  CHECK(model.exact_parameters == 2.0 * 152576 * 4096 + heads * 4096 + 39 * 64 /* sinks */ + 3.0 * 4096 * 16384 +
                                      experts + 97 * 4096 /* norms */);
  CHECK(kv_elements(model, false) == 9.0 * 4 * (192 + 128));
  CHECK(kv_elements(model, true) == 39.0 * 8 * (192 + 128));
}

TEST_CASE("Gemma 4 E2B: the layers that share keys and values have a wider MLP") {
  // google/gemma-4-E2B, config.json
  const Model model = model_of(R"({"architectures":["Gemma4ForConditionalGeneration"],"model_type":"gemma4",
    "text_config":{"model_type":"gemma4_text","hidden_size":1536,"intermediate_size":6144,"num_hidden_layers":35,
    "num_attention_heads":8,"num_key_value_heads":1,"head_dim":256,"global_head_dim":512,"num_kv_shared_layers":20,
    "use_double_wide_mlp":true,"hidden_size_per_layer_input":256,"vocab_size_per_layer_input":262144,
    "vocab_size":262144,"sliding_window":512,"tie_word_embeddings":true,"layer_types":[
    "sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention",
    "sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention",
    "sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention",
    "sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention",
    "sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention",
    "sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention",
    "sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention"]}})");
  const double heads = 28 * 2.0 * 8 * 256 + 7 * 2.0 * 8 * 512 + 12 * 2.0 * 256 + 3 * 2.0 * 512;  // Q and O, K and V
  const double head_norms = 28 * 256 + 7 * 512 + 12 * 256 + 3 * 512;
  const double mlp = (15 + 20 * 2) * 3.0 * 6144;
  const double per_layer = 262144.0 * 35 * 256 + 1536 * 35 * 256 + 256 + 35 * (2.0 * 1536 * 256 + 1536);
  CHECK(model.exact_parameters == 262144.0 * 1536 + (heads + mlp + 4 * 35 + 1) * 1536 + head_norms + per_layer);
  CHECK(kv_elements(model, false) == 3.0 * 2 * 512);  // layers 5, 10 and 15
  CHECK(kv_elements(model, true) == 12.0 * 2 * 256);
}

TEST_CASE("LFM2's convolutions are counted, and its MLP is two thirds of what the file says") {
  // huggingface.co/LiquidAI: the sums over the checkpoints' tensors
  const auto lfm2 = [](const char* rest) {
    return model_of(std::string(R"({"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":65536,)"
                                R"("max_position_embeddings":128000,"hidden_size":2048,)") +
                    rest);
  };
  const Model dense = lfm2(R"("model_type":"lfm2","block_ff_dim":12288,"num_hidden_layers":16,"conv_L_cache":3,
      "full_attn_idxs":[2,5,8,10,12,14]})");
  CHECK(dense.exact_parameters == 1170340608);
  CHECK(kv_elements(dense, false) == 6.0 * 2 * 512);
  for (const LayerKind& kind : dense.kinds) {
    CHECK(kind.state_elements == 0);
    CHECK(kind.conv_state_elements == (kind.mixer == Mixer::full ? 0 : 2 * 2048));
  }
  const Model wide = lfm2(R"("model_type":"lfm2","intermediate_size":10752,"num_hidden_layers":30,
      "block_auto_adjust_ff_dim":false,"layer_types":["conv","conv","full_attention","conv","conv","conv",
      "full_attention","conv","conv","conv","full_attention","conv","conv","conv","full_attention","conv","conv","conv",
      "full_attention","conv","conv","conv","full_attention","conv","conv","full_attention","conv","conv",
      "full_attention","conv"]})");
  CHECK(wide.exact_parameters == 2569272320);
  const Model mixture = lfm2(R"("model_type":"lfm2_moe","intermediate_size":7168,"num_hidden_layers":24,
      "num_experts":32,"num_experts_per_tok":4,"moe_intermediate_size":1792,"num_dense_layers":2,
      "full_attn_idxs":[2,6,10,14,18,21]})");
  CHECK(mixture.exact_parameters == 8339929856 + 22 * 32);  // and the routers' biases, which are buffers there
}

TEST_CASE("a period of layers that is none is named") {
  const ConfigReading reading = read_config(R"({"model_type":"jamba","hidden_size":64,"num_hidden_layers":8,
    "num_attention_heads":4,"intermediate_size":128,"vocab_size":100,"attn_layer_period":4,"attn_layer_offset":4})");
  CHECK(fault_of(reading, "attn_layer_period") == "not a period of layers");
}
