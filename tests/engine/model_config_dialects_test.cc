#include "model_samples.h"

using namespace vram;
using namespace model_samples;

namespace {

Architecture read(std::string_view json) {
  const ConfigReading reading = read_config(json);
  for (const ModelFault& fault : reading.faults) UNSCOPED_INFO(fault.field << ": " << fault.text);
  CHECK(reading.ok);
  return reading.architecture;
}

double parameters(std::string_view json) { return model_of(json).exact_parameters; }

}  // namespace

TEST_CASE("config.json as downloaded, with what the class defaults left out") {
  struct Row {
    const char* what;
    double parameters;
    const char* json;
  };
  // Published counts: huggingface.co (safetensors) of the model named.
  const Row rows[] = {
      {"openai-community/gpt2: no n_inner, tied by default", 124439808,
       R"({"activation_function":"gelu_new","architectures":["GPT2LMHeadModel"],"model_type":"gpt2","n_ctx":1024,"n_embd":768,
           "n_head":12,"n_layer":12,"n_positions":1024,"vocab_size":50257})"},
      {"EleutherAI/gpt-j-6b: n_inner null", 6050882784,
       R"({"architectures":["GPTJForCausalLM"],"model_type":"gptj","n_embd":4096,"n_head":16,"n_inner":null,"n_layer":28,
           "n_positions":2048,"rotary_dim":64,"tie_word_embeddings":false,"vocab_size":50400})"},
      {"EleutherAI/gpt-neo-1.3B: attention_layers, intermediate_size null", 1315575808,
       R"({"architectures":["GPTNeoForCausalLM"],"model_type":"gpt_neo","hidden_size":2048,"intermediate_size":null,
           "attention_layers":["global","local","global","local","global","local","global","local","global","local","global",
           "local","global","local","global","local","global","local","global","local","global","local","global","local"],
           "max_position_embeddings":2048,"num_heads":16,"num_layers":24,"vocab_size":50257,"window_size":256})"},
      {"bigscience/bloom-560m", 559214592,
       R"({"architectures":["BloomForCausalLM"],"model_type":"bloom","hidden_size":1024,"n_layer":24,"n_head":16,
           "seq_length":2048,"vocab_size":250880})"},
      {"facebook/opt-350m: narrow embeddings, norms after", 331196416,
       R"({"architectures":["OPTForCausalLM"],"model_type":"opt","activation_function":"relu","do_layer_norm_before":false,
           "ffn_dim":4096,"hidden_size":1024,"max_position_embeddings":2048,"num_attention_heads":16,
           "num_hidden_layers":24,"vocab_size":50272,"word_embed_proj_dim":512})"},
      {"tiiuae/falcon-7b, its first spelling", 6921720704,
       R"({"architectures":["RWForCausalLM"],"model_type":"RefinedWebModel","alibi":false,"bias":false,"hidden_size":4544,
           "multi_query":true,"n_head":71,"n_layer":32,"parallel_attn":true,"vocab_size":65024})"},
      {"tiiuae/falcon-7b: num_kv_heads 71 counts for nothing", 6921720704,
       R"({"architectures":["FalconForCausalLM"],"model_type":"falcon","alibi":false,"bias":false,"hidden_size":4544,
           "multi_query":true,"new_decoder_architecture":false,"num_attention_heads":71,"num_hidden_layers":32,
           "num_kv_heads":71,"parallel_attn":true,"vocab_size":65024})"},
      {"tiiuae/falcon-40b", 41303293952,
       R"({"architectures":["FalconForCausalLM"],"model_type":"falcon","hidden_size":8192,"new_decoder_architecture":true,
           "num_attention_heads":128,"num_hidden_layers":60,"num_kv_heads":8,"vocab_size":65024})"},
      {"mosaicml/mpt-7b", 6649286656,
       R"({"architectures":["MPTForCausalLM"],"model_type":"mpt","d_model":4096,"n_heads":32,"n_layers":32,
           "expansion_ratio":4,"max_seq_len":2048,"no_bias":true,"learned_pos_emb":true,"vocab_size":50432,
           "attn_config":{"alibi":true,"attn_type":"multihead_attention"}})"},
      {"mistralai/Mistral-7B-v0.3: head_dim and sliding_window null", 7248023552,
       R"({"architectures":["MistralForCausalLM"],"model_type":"mistral","head_dim":null,"hidden_size":4096,
           "intermediate_size":14336,"num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":8,
           "sliding_window":null,"vocab_size":32768})"},
      {"Qwen/Qwen2.5-7B: biases of Q, K and V implied", 7615616512,
       R"({"architectures":["Qwen2ForCausalLM"],"model_type":"qwen2","hidden_size":3584,"intermediate_size":18944,
           "max_position_embeddings":131072,"max_window_layers":28,"num_attention_heads":28,"num_hidden_layers":28,
           "num_key_value_heads":4,"sliding_window":131072,"use_sliding_window":false,"vocab_size":152064})"},
      {"google/gemma-2b: tied by default", 2506172416,
       R"({"architectures":["GemmaForCausalLM"],"model_type":"gemma","head_dim":256,"hidden_size":2048,
           "intermediate_size":16384,"num_attention_heads":8,"num_hidden_layers":18,"num_key_value_heads":1,
           "vocab_size":256000})"},
      {"google/gemma-3-4b-it: a text_config that leaves out the heads", 3880263168,
       R"({"architectures":["Gemma3ForConditionalGeneration"],"model_type":"gemma3","text_config":{"hidden_size":2560,
           "intermediate_size":10240,"model_type":"gemma3_text","num_hidden_layers":34,"sliding_window":1024},
           "vision_config":{"hidden_size":1152,"model_type":"siglip_vision_model"}})"},
      {"microsoft/phi-2", 2779683840,
       R"({"architectures":["PhiForCausalLM"],"model_type":"phi","hidden_size":2560,"intermediate_size":10240,
           "num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":32,"vocab_size":51200})"},
      {"THUDM/chatglm3-6b", 6243584000,
       R"({"architectures":["ChatGLMModel"],"model_type":"chatglm","add_bias_linear":false,"add_qkv_bias":true,
           "ffn_hidden_size":13696,"hidden_size":4096,"kv_channels":128,"multi_query_attention":true,
           "multi_query_group_num":2,"num_attention_heads":32,"num_layers":28,"padded_vocab_size":65024,
           "seq_length":8192,"tie_word_embeddings":false})"},
      {"databricks/dbrx-base", 131596523520,
       R"({"architectures":["DbrxForCausalLM"],"model_type":"dbrx","attn_config":{"kv_n_heads":8,"clip_qkv":8},
           "d_model":6144,"ffn_config":{"ffn_hidden_size":10752,"moe_num_experts":16,"moe_top_k":4},"max_seq_len":32768,
           "n_heads":48,"n_layers":40,"vocab_size":100352})"},
      {"bigcode/starcoder: multi_query", 15517456384,
       R"({"architectures":["GPTBigCodeForCausalLM"],"model_type":"gpt_bigcode","multi_query":true,"n_embd":6144,
           "n_head":48,"n_inner":24576,"n_layer":40,"n_positions":8192,"vocab_size":49152})"},
      {"Qwen/Qwen-7B: gate and up counted together", 7721324544,
       R"({"architectures":["QWenLMHeadModel"],"model_type":"qwen","hidden_size":4096,"intermediate_size":22016,
           "kv_channels":128,"no_bias":true,"num_attention_heads":32,"num_hidden_layers":32,"seq_length":8192,
           "tie_word_embeddings":false,"vocab_size":151936})"},
      {"allenai/OLMo-7B, its first spelling", 6888095744,
       R"({"architectures":["OLMoForCausalLM"],"model_type":"hf_olmo","d_model":4096,"embedding_size":50304,
           "mlp_hidden_size":22016,"max_sequence_length":2048,"n_heads":32,"n_layers":32,"vocab_size":50280,
           "weight_tying":false})"},
      {"stabilityai/stablelm-2-1_6b", 1644515328,
       R"({"architectures":["StableLmForCausalLM"],"model_type":"stablelm","hidden_size":2048,"intermediate_size":5632,
           "num_attention_heads":32,"num_hidden_layers":24,"num_key_value_heads":32,"use_qkv_bias":true,
           "tie_word_embeddings":false,"vocab_size":100352})"},
      {"moonshotai/Kimi-Linear-48B-A3B: layers by number", 49122681728,
       R"({"architectures":["KimiLinearForCausalLM"],"model_type":"kimi_linear","first_k_dense_replace":1,"head_dim":72,
           "hidden_size":2304,"intermediate_size":9216,"kv_lora_rank":512,"q_lora_rank":null,"qk_nope_head_dim":128,
           "qk_rope_head_dim":64,"v_head_dim":128,"moe_intermediate_size":1024,"moe_layer_freq":1,"num_experts":256,
           "num_experts_per_token":8,"num_shared_experts":1,"num_attention_heads":32,"num_hidden_layers":27,
           "num_key_value_heads":32,"model_max_length":1048576,"vocab_size":163840,"tie_word_embeddings":false,
           "linear_attn_config":{"full_attn_layers":[4,8,12,16,20,24,27],"head_dim":128,"num_heads":32,
           "kda_layers":[1,2,3,5,6,7,9,10,11,13,14,15,17,18,19,21,22,23,25,26],"short_conv_kernel_size":4}})"},
      {"tiiuae/falcon-mamba-7b: expand 16, but intermediate_size is the inner width", 7272665088,
       R"({"architectures":["FalconMambaForCausalLM"],"model_type":"falcon_mamba","conv_kernel":4,"expand":16,
           "hidden_size":4096,"intermediate_size":8192,"num_hidden_layers":64,"state_size":16,"time_step_rank":256,
           "use_bias":false,"use_conv_bias":true,"vocab_size":65024,"tie_word_embeddings":false})"},
      {"CohereLabs/aya-vision-8b: a text_config that leaves out the vocabulary", 8028033024,
       R"({"architectures":["AyaVisionForConditionalGeneration"],"model_type":"aya_vision","text_config":{
           "hidden_size":4096,"intermediate_size":14336,"model_type":"cohere2","num_attention_heads":32,
           "num_hidden_layers":32,"num_key_value_heads":8,"use_qk_norm":false}})"},
      {"HuggingFaceTB/SmolVLM-256M-Instruct, its text model: 256484928 less tower (86433024) and connector (7077888)",
       162974016, R"({"architectures":["Idefics3ForConditionalGeneration"],"model_type":"idefics3","text_config":{
           "architectures":["VLlama3ForCausalLM"],"head_dim":64,"hidden_size":576,"intermediate_size":1536,
           "model_type":"llama","num_attention_heads":9,"num_hidden_layers":30,"num_key_value_heads":3,
           "tie_word_embeddings":false,"vocab_size":49280}})"},
      {"adept/fuyu-8b, its text model: 9408238592 less the patches' projection (11063296)", 9397175296,
       R"({"architectures":["PersimmonForCausalLM"],"model_type":"persimmon","hidden_size":4096,"intermediate_size":16384,
           "num_attention_heads":64,"num_hidden_layers":36,"qk_layernorm":true,"tie_word_embeddings":false,
           "vocab_size":262144})"},
      {"swiss-ai/Apertus-8B-2509: 2 x 131072 x 4096 + 32 x (2 x 4096 x 4096 + 2 x 4096 x 1024 + 2 x 4096 x 21504 + "
       "2 x 4096 + 2 x 128 + 2 scalars of xIELU) + 4096",
       8053338176, R"({"architectures":["ApertusForCausalLM"],"model_type":"apertus","attention_bias":false,
           "hidden_size":4096,"intermediate_size":21504,"mlp_bias":false,"num_attention_heads":32,
           "num_hidden_layers":32,"num_key_value_heads":8,"qk_norm":true,"tie_word_embeddings":false,
           "vocab_size":131072})"},
      {"ibm-ai-platform/Bamba-9B-v2: 2 x 128256 x 4096 + 32 x (3 x 4096 x 14336 + 2 x 4096) + 3 x 41943040 (attention) "
       "+ 29 x 102286976 (Mamba-2) + 4096",
       9780235392, R"({"architectures":["BambaForCausalLM"],"model_type":"bamba","attn_layer_indices":[9,18,27],
           "hidden_size":4096,"intermediate_size":14336,"mamba_conv_bias":true,"mamba_d_conv":4,"mamba_d_head":64,
           "mamba_d_state":128,"mamba_expand":2,"mamba_n_groups":1,"mamba_n_heads":128,"mamba_proj_bias":false,
           "num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":8,"tie_word_embeddings":false,
           "vocab_size":128256})"},
      {"mistralai/Mistral-Small-4-119B-2603, its text model: 2 x 131072 x 4096 + 36 x (28050688 (latent attention) + "
       "2 x 4096 + 128 x 4096 + 129 x 3 x 4096 x 2048) + 4096",
       118972826624, R"({"architectures":["Mistral3ForConditionalGeneration"],"model_type":"mistral3","text_config":{
           "model_type":"mistral4","first_k_dense_replace":0,"hidden_size":4096,"intermediate_size":12288,
           "kv_lora_rank":256,"moe_intermediate_size":2048,"n_routed_experts":128,"n_shared_experts":1,
           "num_attention_heads":32,"num_experts_per_tok":4,"num_hidden_layers":36,"num_key_value_heads":32,
           "q_lora_rank":1024,"qk_nope_head_dim":64,"qk_rope_head_dim":64,"v_head_dim":128,"vocab_size":131072,
           "tie_word_embeddings":false}})"},
      {"upstage/Solar-Open-100B: 2 x 196608 x 4096 + 48 x (2 x 4096 x 8192 + 2 x 4096 x 1024 + 2 x 4096 + 129 x 3 x "
       "4096 x 1280 + 128 x 4096 + 128) + 4096",
       102651799552, R"({"architectures":["SolarOpenForCausalLM"],"model_type":"solar_open","head_dim":128,
           "hidden_size":4096,"intermediate_size":10240,"moe_intermediate_size":1280,"n_routed_experts":128,
           "n_shared_experts":1,"num_attention_heads":64,"num_experts_per_tok":8,"num_hidden_layers":48,
           "num_key_value_heads":8,"tie_word_embeddings":false,"vocab_size":196608})"},
      {"a Jais 2 8B: 2 x 150272 x 3328 + 32 x (4 x (3328 x 3328 + 3328) + 2 x 3328 x 26624 + 26624 + 3328 + 4 x 3328) "
       "+ "
       "2 x 3328",
       8090401280, R"({"architectures":["Jais2ForCausalLM"],"model_type":"jais2","attention_bias":true,"head_dim":128,
           "hidden_size":3328,"intermediate_size":26624,"mlp_bias":true,"num_attention_heads":26,"num_hidden_layers":32,
           "num_key_value_heads":26,"tie_word_embeddings":false,"vocab_size":150272})"},
      {"rhymes-ai/Aria, its text model: 2 x 100352 x 2560 + 28 x (4 x 2560 x 2560 + 2 x 2560 + 64 x 2560 + 66 x 3 x "
       "2560 "
       "x 1664) + 2560",
       24869091840, R"({"architectures":["AriaForConditionalGeneration"],"model_type":"aria","text_config":{
           "hidden_size":2560,"intermediate_size":1664,"model_type":"aria_text","moe_num_experts":64,"moe_topk":6,
           "num_attention_heads":20,"num_hidden_layers":28,"num_key_value_heads":20,"vocab_size":100352}})"},
      {"tencent/Hunyuan-4B-Instruct", 4221757440,
       R"({"architectures":["HunYuanDenseV1ForCausalLM"],"model_type":"hunyuan_v1_dense","attention_bias":false,
           "head_dim":128,"hidden_size":3072,"intermediate_size":8192,"mlp_bias":false,"num_attention_heads":32,
           "num_hidden_layers":36,"num_key_value_heads":8,"tie_word_embeddings":true,"use_qk_norm":true,
           "vocab_size":120818})"},
      {"allenai/OLMoE-1B-7B: every layer has experts", 6919161856,
       R"({"architectures":["OlmoeForCausalLM"],"model_type":"olmoe","hidden_size":2048,"intermediate_size":1024,
           "num_attention_heads":16,"num_hidden_layers":16,"num_key_value_heads":16,"num_experts":64,
           "num_experts_per_tok":8,"vocab_size":50304,"tie_word_embeddings":false})"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(parameters(row.json) == row.parameters);
  }
}

TEST_CASE("a class that is another family's than model_type is the one that runs") {
  const std::string shape = R"(,"hidden_size":64,"num_hidden_layers":1,"num_attention_heads":4,"head_dim":16,
    "num_key_value_heads":4,"intermediate_size":32,"num_local_experts":4,"num_experts_per_tok":2,"vocab_size":100,
    "use_qk_norm":true,"use_routing_bias":true})";
  const Architecture a = read(R"({"model_type":"mixtral","architectures":["MiniMaxM2ForCausalLM"])" + shape);
  CHECK(a.model_type == "minimax_m2");
  CHECK(a.qk_norm);
  CHECK(a.router_correction_bias);
}

TEST_CASE("a family found by its class alone is read back from the share string") {
  const Architecture a = read(R"({"model_type":"my_llama","architectures":["LlamaForCausalLM"],"hidden_size":64,
    "num_hidden_layers":1,"num_attention_heads":4,"intermediate_size":128,"vocab_size":100})");
  CHECK(a.model_type == "llama");
  CHECK(survives_arch(a));
}

TEST_CASE("where a window counts and where it does not") {
  const std::string head = R"({"model_type":"qwen2","hidden_size":64,"num_hidden_layers":4,"num_attention_heads":4,
    "num_key_value_heads":2,"intermediate_size":128,"vocab_size":100,"max_position_embeddings":1000,)";
  CHECK(read(head + R"("sliding_window":100,"use_sliding_window":false})").window == 0);
  CHECK(read(head + R"("sliding_window":100,"use_sliding_window":true,"max_window_layers":2})").pattern == "2f2s");
  CHECK(read(head + R"("sliding_window":100,"use_sliding_window":true,"max_window_layers":4})").window == 0);
  CHECK(read(head + R"("sliding_window":100,"use_sliding_window":true,"max_window_layers":0})").pattern == "");
  CHECK(read(head + R"("sliding_window":5000,"use_sliding_window":true,"max_window_layers":0})").window == 0);
  CHECK(read(head + R"("layer_types":["full_attention","full_attention","sliding_attention","sliding_attention"],
    "sliding_window":100,"use_sliding_window":true})")
            .pattern == "2f2s");
}

TEST_CASE("layer kinds in all their spellings") {
  CHECK(read(preset_json("gemma-2-9b")).pattern == "1s1f");
  CHECK(read(preset_json("gemma-3-12b")).pattern == "5s1f");
  CHECK(read(preset_json("command-r7b")).pattern == "3s1f");
  CHECK(read(preset_json("gpt-oss-20b")).pattern == "1s1f");
  CHECK(read(preset_json("llama-4-scout-17b-16e")).pattern == "3s1f");
  CHECK(read(preset_json("mistral-7b-v0.1")).window == 4096);
  CHECK(read(preset_json("mistral-7b-v0.1")).pattern == "");
  CHECK(read(preset_json("qwen3-next-80b-a3b")).pattern == "3l1f");
  CHECK(read(preset_json("minimax-m1-456b")).pattern == "7l1f");
  CHECK(read(preset_json("jamba-v0.1-52b")).pattern == "4m1f3m");
  CHECK(read(preset_json("mamba-2.8b")).pattern == "1m");
  CHECK(read(preset_json("granite-4.0-h-small")).pattern == "5m1f4m");
  CHECK(read(R"({"model_type":"exaone4","hidden_size":64,"num_hidden_layers":8,"num_attention_heads":4,
    "intermediate_size":128,"vocab_size":100,"sliding_window":16,"sliding_window_pattern":"LLLG"})")
            .pattern == "3s1f");
}

TEST_CASE("a sliding pattern of one layer is all full attention") {
  const Model model = model_of(R"({"model_type":"gemma3_text","hidden_size":64,"num_hidden_layers":4,
    "num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,"intermediate_size":128,"vocab_size":100,
    "sliding_window":16,"sliding_window_pattern":1})");
  CHECK(model.kinds.size() == 1);
  CHECK(model.layer(0).mixer == Mixer::full);
}

TEST_CASE("MPT says in words that all heads share key and value, and its FFN's width as a ratio") {
  const Architecture a = read(R"({"model_type":"mpt","d_model":68,"n_layers":1,"n_heads":4,"expansion_ratio":2.7,
    "vocab_size":100,"attn_config":{"attn_type":"multiquery_attention"}})");
  CHECK(a.kv_heads == 1);
  CHECK(a.ffn == 183);  // llm-foundry, ffn.py: int(d_model * expansion_ratio), of 183.6
}

TEST_CASE("what a Mamba's config leaves open follows from its width") {
  // modeling_mamba.py: the rank of the time step is hidden / 16, rounded up
  const std::string mamba = R"({"model_type":"mamba","hidden_size":88,"num_hidden_layers":1,"state_size":16,
    "vocab_size":100,"conv_kernel":4,"expand":2)";
  CHECK(read(mamba + "}").linear.dt_rank == 6);
  CHECK(read(mamba + R"(,"time_step_rank":"auto"})").linear.dt_rank == 6);
  CHECK(read(mamba + R"(,"time_step_rank":7})").linear.dt_rank == 7);
  // configuration_bamba.py: the width of a head is expand x hidden / heads
  const std::string bamba = R"({"model_type":"bamba","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,
    "intermediate_size":128,"vocab_size":100,"mamba_n_heads":8,"mamba_d_state":16,"mamba_expand":2,"mamba_d_head":)";
  CHECK(read(bamba + "32}").linear.value_head_dim == 32);
  CHECK(read(bamba + "\"auto\"}").linear.value_head_dim == 16);
}

TEST_CASE("Bamba's attention layers by index") {
  const std::string head = R"({"model_type":"bamba","hidden_size":64,"num_hidden_layers":6,"num_attention_heads":4,
    "intermediate_size":128,"vocab_size":100,"mamba_n_heads":8,"mamba_d_head":16,"mamba_d_state":16)";
  CHECK(read(head + R"(,"attn_layer_indices":[1,4]})").pattern == "1m1f1m");
  CHECK(read(head + "}").pattern == "1m");
}

TEST_CASE("which layers have experts, in all their spellings") {
  CHECK(read(preset_json("deepseek-v3")).dense_layers == 3);
  CHECK(read(preset_json("llama-4-maverick-17b-128e")).moe_every == 2);
  CHECK(read(preset_json("llama-4-maverick-17b-128e")).moe_offset == 1);
  CHECK(read(preset_json("jamba-v0.1-52b")).moe_offset == 1);
  const std::string head = R"({"model_type":"qwen3_moe","hidden_size":64,"num_hidden_layers":4,"num_attention_heads":4,
    "head_dim":16,"num_key_value_heads":2,"intermediate_size":128,"moe_intermediate_size":32,"num_experts":8,
    "num_experts_per_tok":2,"vocab_size":100,)";
  CHECK(read(head + R"("decoder_sparse_step":1,"mlp_only_layers":[]})").ffn_kinds == "");
  CHECK(read(head + R"("decoder_sparse_step":2})").moe_every == 2);
  CHECK(read(head + R"("mlp_only_layers":[0,1]})").dense_layers == 2);
  CHECK(read(head + R"("mlp_only_layers":[1]})").ffn_kinds == "edee");
  CHECK(read(head + R"("moe_layer_freq":[0,1,1,1]})").dense_layers == 1);
  CHECK(read(head + R"("mlp_layer_types":["dense","sparse","sparse","sparse"]})").dense_layers == 1);
}

TEST_CASE("Hunyuan's switch says whether the shared experts that are counted are there") {
  const std::string head = R"({"model_type":"hunyuan_v1_moe","hidden_size":64,"num_hidden_layers":1,
    "num_attention_heads":4,"intermediate_size":128,"vocab_size":100,"num_experts":4,"moe_topk":1,"num_shared_expert":1,
    "use_mixed_mlp_moe":)";
  CHECK(read(head + "true}").shared_experts == 1);
  CHECK(read(head + "false}").shared_experts == 0);
}

TEST_CASE("precision and quantisation of the checkpoint") {
  const std::string head = R"({"model_type":"llama","hidden_size":64,"num_hidden_layers":1,"num_attention_heads":4,
    "intermediate_size":128,"vocab_size":100,)";
  CHECK(read(head + R"("torch_dtype":"float16"})").dtype == "fp16");
  CHECK(read(head + R"("dtype":"float32"})").dtype == "fp32");
  CHECK(read(head + R"("tie_word_embeddings":true})").dtype == "bf16");
  const auto quantised = [&](const char* text) {
    return read(head + "\"quantization_config\":" + text + "}").quantization;
  };
  CHECK(quantised(R"({"quant_method":"fp8"})") == "fp8");
  CHECK(quantised(R"({"quant_method":"awq","bits":4})") == "awq");
  CHECK(quantised(R"({"quant_method":"awq","bits":8})") == "int8");
  CHECK(quantised(R"({"quant_method":"gptq","bits":4})") == "gptq");
  CHECK(quantised(R"({"quant_method":"gptq","bits":8})") == "int8");
  CHECK(quantised(R"({"quant_method":"bitsandbytes","load_in_4bit":true})") == "nf4");
  CHECK(quantised(R"({"quant_method":"bitsandbytes","load_in_8bit":true})") == "int8");
  CHECK(quantised(R"({"quant_method":"mxfp4"})") == "mxfp4");
  CHECK(quantised(R"({"quant_method":"compressed-tensors","format":"nvfp4-pack-quantized"})") == "nvfp4");
  CHECK(quantised(R"({"quant_method":"modelopt","quant_algo":"FP8"})") == "fp8");
  CHECK(quantised(R"({"quant_method":"modelopt","quantization":{"quant_algo":"NVFP4"}})") == "nvfp4");
  CHECK(quantised(R"({"quant_method":"compressed-tensors","format":"pack-quantized",
    "config_groups":{"group_0":{"weights":{"num_bits":4}}}})") == "int4");
  CHECK(quantised(R"({"quant_method":"compressed-tensors","format":"pack-quantized",
    "config_groups":{"group_0":{"weights":{"num_bits":8}}}})") == "int8");
  CHECK(quantised(R"({"load_in_4bit":true})") == "nf4");  // before quant_method was written
  CHECK(quantised("null") == "");
  const ConfigReading odd = read_config(head + R"("quantization_config":{"quant_method":"frob"}})");
  CHECK(odd.ok);
  CHECK(fault_of(odd, "quant_method") ==
        "a quantisation that is not modelled; the weights are billed as if not quantised");
  const ConfigReading three = read_config(head + R"("quantization_config":{"quant_method":"gptq","bits":3}})");
  CHECK(three.architecture.quantization == "gptq");
  CHECK(three.architecture.quantized_bits == 3);
  const ConfigReading list = read_config(head + R"("quantization_config":[4]})");
  CHECK(list.ok);
  CHECK(fault_of(list, "quantization_config") == "no quantisation that is known here; billed as if there were none");
}

TEST_CASE("Infinity, which Python writes, is read") {
  CHECK(
      parameters(R"({"time_step_limit":[0.0,Infinity],"a":-Infinity,"b":NaN,"c":"NaN \" Infinity","model_type":"llama",
    "hidden_size":64,"num_hidden_layers":1,"num_attention_heads":4,"intermediate_size":128,"vocab_size":100})") > 0);
}

TEST_CASE("a tower's parameters follow from its vision_config") {
  const auto tower = [](const std::string& vision, const std::string& outer = "") {
    return read(R"({"model_type":"mistral","hidden_size":5120,"num_hidden_layers":1,"num_attention_heads":40,
      "intermediate_size":100,"vocab_size":100,)" +
                outer + R"("vision_config":)" + vision + "}")
        .tower;
  };
  // Qwen3.5-27B's tower and merger
  CHECK(tower(R"({"depth":27,"hidden_size":1152,"intermediate_size":4304,"out_hidden_size":5120,"patch_size":16,
    "spatial_merge_size":2,"temporal_patch_size":2,"in_channels":3,"num_position_embeddings":2304})") == 460730096);
  // Mistral Small 3.2's Pixtral
  CHECK(tower(R"({"model_type":"pixtral","num_hidden_layers":24,"hidden_size":1024,"intermediate_size":4096,
    "patch_size":14,"num_channels":3,"image_size":1540,"rope_theta":10000.0})",
              R"("spatial_merge_size":2,)") == 438958080);
  // SigLIP-so400m as in Gemma 3
  CHECK(tower(R"({"num_hidden_layers":27,"hidden_size":1152,"intermediate_size":4304,"patch_size":14,
    "image_size":896})") == 416866032 + 1152 * 5120 + 1152);
  // Gemma 4's: gated, without biases, two tables of positions (modeling_gemma4.py)
  CHECK(tower(R"({"model_type":"gemma4_vision","num_hidden_layers":27,"hidden_size":1152,"intermediate_size":4304,
    "head_dim":72,"patch_size":16,"position_embedding_size":10240,"standardize":true})") ==
        27 * 20187792 + (768 + 2 * 10240 + 5120 + 2) * 1152);
  CHECK(tower(R"({"model_type":"clip_vision_model"})") == 0);
}

TEST_CASE("the largest image of a tower follows from its vision_config") {
  const auto image = [](const std::string& type, const std::string& vision) {
    return read(R"({"model_type":")" + type + R"(","downsample_ratio":0.5,"text_config":{"model_type":"qwen2",
      "hidden_size":896,"num_hidden_layers":1,"num_attention_heads":14,"num_key_value_heads":2,"intermediate_size":100,"vocab_size":100},
      "vision_config":)" +
                vision + "}")
        .image;
  };
  using Numbers = std::vector<double>;
  CHECK(image("qwen3_vl", R"({"depth":27,"hidden_size":1152,"intermediate_size":4304,"patch_size":16,"in_channels":3,
    "spatial_merge_size":2,"temporal_patch_size":2,"num_position_embeddings":2304,"deepstack_visual_indexes":[8,16,24]})") ==
        Numbers{65536, 16384, 1152, 8608, 1536, 4, 1});
  CHECK(image("internvl_chat", R"({"num_hidden_layers":24,"hidden_size":1024,"intermediate_size":4096,"patch_size":14,
    "image_size":448})") == Numbers{13312, 3328, 1024, 8192, 588, 1, 0});
  CHECK(image("qwen2", R"({"hidden_size":0})").empty());
}

TEST_CASE("a multimodal file's text model is counted, and the tower named") {
  const std::string_view llava = R"({"architectures":["LlavaForConditionalGeneration"],"model_type":"llava",
    "text_config":{"model_type":"llama","vocab_size":32064},"vision_config":{"model_type":"clip_vision_model"}})";
  CHECK(read(llava).has_vision);
  CHECK(parameters(llava) == 6738415616 + 2.0 * 64 * 4096);  // Vicuna 7B with 64 more words
  CHECK(read(R"({"model_type":"qwen3_vl","tie_word_embeddings":true,"vision_config":{},"text_config":{
    "model_type":"qwen3_vl_text","hidden_size":64,"num_hidden_layers":1,"num_attention_heads":4,
    "num_key_value_heads":4,"intermediate_size":128,"vocab_size":100}})")
            .tied);
}
