#include "engine/model/families.h"

#include <algorithm>

namespace vram {
namespace {

// Defaults are those of configuration_<family>.py, structure that of modeling_<family>.py (transformers, or the
// repository that the model's auto_map names). tie_word_embeddings: PretrainedConfig's own default is true, most
// recent classes say false.
constexpr Family kFamilies[] = {
    // --- the Llama block: RMSNorm before attention and before a gated MLP, no biases ---
    {"llama Yi yi aquila xverse", "Llama LLaMA VLlama3 Yi Aquila Xverse XVERSE", "",
     R"({"_gated":true,"tie_word_embeddings":false,"_qkv_bias":"attention_bias","_o_bias":"attention_bias",
         "_mlp_bias":"mlp_bias"})",
     R"({"vocab_size":32000,"hidden_size":4096,"intermediate_size":11008,"num_hidden_layers":32,
         "num_attention_heads":32,"max_position_embeddings":2048})"},
    {"mistral ministral3 ministral", "Mistral Ministral Devstral Voxtral Pixtral", "llama",
     R"({"num_key_value_heads":8,"sliding_window":4096,"_window":"all","_qkv_bias":false,"_o_bias":false,"_mlp_bias":false,
         "max_position_embeddings":131072})",
     R"({"hidden_size":4096,"intermediate_size":14336})"},
    {"mixtral", "Mixtral", "mistral", R"({"sliding_window":null,"num_local_experts":8,"num_experts_per_tok":2})", "{}"},
    {"internlm", "InternLMFor InternLMModel", "llama", R"({"_qkv_bias":"bias","_o_bias":"bias"})", ""},
    {"internlm2", "InternLM2", "llama", R"({"_qkv_bias":"bias","_o_bias":"bias"})", ""},
    {"internlm3", "InternLM3", "llama", R"({"_qkv_bias":"qkv_bias","_o_bias":"bias","_mlp_bias":"bias"})", ""},
    {"baichuan", "Baichuan BaiChuan", "llama", R"({"_alibi_without":"max_position_embeddings"})", ""},
    {"exaone", "ExaoneFor ExaoneModel", "llama", R"({"_qkv_bias":false,"_o_bias":false,"_mlp_bias":false})", ""},
    {"exaone4 exaone4_5_text exaone4_5", "Exaone4 Exaone4_5_", "llama",
     R"({"_qkv_bias":false,"_o_bias":false,"_mlp_bias":false,"_qk_norm":true,"qk_norm_kind":"per_head","_window":"some",
         "sliding_window":4096,"sliding_window_pattern":4})",
     ""},
    {"minicpm", "MiniCPMFor MiniCPMModel", "llama", R"({"tie_word_embeddings":true})", ""},
    {"minicpm3", "MiniCPM3", "llama",
     R"({"q_lora_rank":768,"kv_lora_rank":256,"qk_nope_head_dim":64,"qk_rope_head_dim":32,"v_head_dim":64,
         "tie_word_embeddings":true})",
     ""},
    {"smollm3", "SmolLM3", "llama", R"({"tie_word_embeddings":true,"num_key_value_heads":4})", ""},
    {"granite", "GraniteFor GraniteModel", "llama", "{}", "{}"},
    {"granitemoe granitemoeshared", "GraniteMoeFor GraniteMoeModel GraniteMoeShared", "granite",
     R"({"num_local_experts":8,"num_experts_per_tok":2,"_mlp_bias":false})", ""},
    {"granitemoehybrid", "GraniteMoeHybrid", "granite",
     R"({"num_local_experts":8,"num_experts_per_tok":2,"shared_intermediate_size":1024,"_shared_alone":true,
         "_mlp_bias":false,"linear":{"kind":"mamba2"},"mamba_num_heads":128,"n_groups":1,"state_size":256,
         "conv_kernel":4,"expand":2,"use_conv_bias":true,"_mixer_bias":"mamba_proj_bias"})",
     ""},
    {"seed_oss", "SeedOss", "llama", R"({"attention_bias":true,"_o_bias":"attention_out_bias","head_dim":128})", ""},
    {"ernie4_5", "Ernie4_5For Ernie4_5Model Ernie4_5_For", "llama",
     R"({"tie_word_embeddings":true,"_qkv_bias":"use_bias","_o_bias":"use_bias","_mlp_bias":"use_bias","head_dim":128})",
     ""},
    {"ernie4_5_moe", "Ernie4_5_Moe Ernie4_5Moe", "ernie4_5",
     R"({"head_dim":null,"num_local_experts":64,"num_experts_per_tok":6,"moe_intermediate_size":1536,
         "n_shared_experts":2,"first_k_dense_replace":1,"moe_layer_interval":1,"router_correction_bias":true})",
     ""},
    {"nemotron-nas", "DeciLM", "llama", "{}", ""},
    {"helium", "Helium", "llama", R"({"_o_bias":false})", ""},
    {"arcee", "Arcee", "llama", R"({"_gated":false,"hidden_act":"relu2"})", ""},
    {"orion", "Orion", "llama", R"({"norm":"layernorm","norm_bias":true})", ""},
    {"jais2", "Jais2", "llama",
     R"({"_gated":false,"hidden_act":"relu2","norm":"layernorm","norm_bias":true,"attention_bias":true,"mlp_bias":true})",
     ""},
    {"apertus", "Apertus", "llama",
     R"({"_gated":false,"hidden_act":"xielu","activation_scalars":2,"_mlp_bias":false,"_qk_norm":true,
         "qk_norm_kind":"per_head"})",
     ""},
    {"aria_text aria_moe_lm", "AriaText AriaMoELM", "llama",
     R"({"num_local_experts":8,"num_experts_per_tok":2,"n_shared_experts":2,"_mlp_bias":false})", ""},

    // --- Qwen ---
    {"qwen", "QWen", "llama", R"({"_qkv_bias":true,"_o_bias":false,"_mlp_bias":false,"_ffn_halved":true})", ""},
    {"qwen2 qwen2_vl qwen2_5_vl qwen2_vl_text qwen2_5_vl_text qwen2_5_omni_text qwen2_audio",
     "Qwen2For Qwen2Model Qwen2VL Qwen2_5_VL Qwen2_5Omni", "llama",
     R"({"_qkv_bias":true,"_o_bias":false,"_mlp_bias":false,"use_sliding_window":false,"sliding_window":4096,
         "max_window_layers":28,"_window":"above"})",
     R"({"vocab_size":151936,"hidden_size":4096,"intermediate_size":22016,"num_key_value_heads":32,
         "max_position_embeddings":32768})"},
    {"mimo", "MiMoFor MiMoModel", "qwen2", R"({"_qkv_bias":"attention_bias","attention_bias":true})", ""},
    {"qwen2_moe", "Qwen2Moe", "qwen2",
     R"({"_qkv_bias":"qkv_bias","qkv_bias":true,"decoder_sparse_step":1,"num_local_experts":60,"num_experts_per_tok":4,
         "moe_intermediate_size":1408,"shared_expert_intermediate_size":5632,"shared_expert_gate":true})",
     ""},
    {"qwen3 qwen3_vl_text qwen3_vl", "Qwen3For Qwen3Model Qwen3VLFor Qwen3VLText Qwen3VLModel", "qwen2",
     R"({"_qkv_bias":"attention_bias","_o_bias":"attention_bias","_qk_norm":true,"qk_norm_kind":"per_head","head_dim":128})",
     R"({"num_hidden_layers":32,"num_attention_heads":32})"},
    {"qwen3_moe qwen3_vl_moe_text qwen3_vl_moe qwen3_omni_moe_text", "Qwen3Moe Qwen3VLMoe Qwen3OmniMoe", "qwen3",
     R"({"head_dim":null,"decoder_sparse_step":1,"num_local_experts":128,"num_experts_per_tok":8,"moe_intermediate_size":768})",
     R"({"hidden_size":2048,"intermediate_size":6144,"num_hidden_layers":24,"num_key_value_heads":4})"},
    {"qwen3_next", "Qwen3Next", "qwen3",
     R"({"head_dim":256,"_window":null,"decoder_sparse_step":1,"num_local_experts":512,"num_experts_per_tok":10,
         "moe_intermediate_size":512,"shared_expert_intermediate_size":512,"shared_expert_gate":true,
         "output_gate":true,"full_attention_interval":4,"linear":{"kind":"gated_deltanet"},
         "linear_conv_kernel_dim":4,"linear_key_head_dim":128,"linear_value_head_dim":128,
         "linear_num_key_heads":16,"linear_num_value_heads":32})",
     ""},
    {"qwen3_5_text qwen3_5", "Qwen3_5For Qwen3_5Text Qwen3_5Model", "qwen3_next",
     R"({"num_local_experts":null,"shared_expert_intermediate_size":null,"shared_expert_gate":false,
         "mamba_ssm_dtype":"float32"})",
     ""},
    {"qwen3_5_moe_text qwen3_5_moe", "Qwen3_5Moe", "qwen3_next",
     R"({"num_local_experts":256,"num_experts_per_tok":8,"mamba_ssm_dtype":"float32"})", ""},

    // --- DeepSeek and those that build on it ---
    {"deepseek", "DeepseekFor DeepseekModel", "llama",
     R"({"_o_bias":"attention_bias","_mlp_bias":false,"moe_layer_freq":1})", ""},
    {"deepseek_v2", "DeepseekV2 DeepseekVLV2", "deepseek",
     R"({"q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128})",
     R"({"vocab_size":102400,"hidden_size":4096,"intermediate_size":11008,"num_hidden_layers":30,
         "num_attention_heads":32,"q_lora_rank":1536})"},
    {"deepseek_v3 kimi_k2 kimi_k25", "DeepseekV3 KimiK2 KimiVL Kimi_K2", "deepseek_v2",
     R"({"router_correction_bias":true})",
     R"({"vocab_size":129280,"hidden_size":7168,"intermediate_size":18432,"num_hidden_layers":61,"num_attention_heads":128,
         "moe_intermediate_size":2048,"n_shared_experts":1,"n_routed_experts":256,"num_experts_per_tok":8,
         "first_k_dense_replace":3,"max_position_embeddings":4096})"},
    {"kimi_linear", "KimiLinear", "deepseek_v3",
     R"({"q_lora_rank":null,"position":"none","linear":{"kind":"kda"},"linear_num_heads":32,"linear_head_dim":128,
         "linear_conv_kernel_dim":4,"full_attention_interval":4,"num_local_experts":256,"num_experts_per_tok":8,
         "moe_intermediate_size":1024,"n_shared_experts":1,"first_k_dense_replace":1,
         "_unmodelled":["attn_res_block_size","routed_expert_hidden_size","mla_use_output_gate"]})",
     ""},
    {"mistral4", "Mistral4", "deepseek_v2",
     R"({"q_lora_rank":1024,"kv_lora_rank":256,"qk_nope_head_dim":64,"qk_rope_head_dim":64,"v_head_dim":128,
         "num_local_experts":128,"num_experts_per_tok":4,"n_shared_experts":1,"moe_intermediate_size":2048})",
     R"({"vocab_size":131072,"hidden_size":4096,"intermediate_size":12288,"num_hidden_layers":36,
         "num_attention_heads":32,"q_lora_rank":1024,"max_position_embeddings":1048576})"},
    {"deepseek_v32", "DeepseekV32", "deepseek_v3", R"({"index_n_heads":64,"index_head_dim":128,"index_topk":2048})",
     ""},
    {"glm_moe_dsa", "GlmMoeDsa", "deepseek_v3",
     R"({"index_n_heads":32,"index_head_dim":128,"index_topk":2048,"q_lora_rank":2048,"qk_nope_head_dim":192,
         "v_head_dim":256})",
     ""},
    {"glm4_moe_lite", "Glm4MoeLite", "deepseek_v3", R"({"q_lora_rank":768,"qk_nope_head_dim":192,"v_head_dim":256})",
     ""},
    {"dots1", "Dots1", "deepseek", R"({"_qk_norm":true,"qk_norm_kind":"per_head","router_correction_bias":true})", ""},

    // --- GLM ---
    {"chatglm", "ChatGLM", "llama",
     R"({"_qkv_bias":"add_qkv_bias","_o_bias":"add_bias_linear","_mlp_bias":"add_bias_linear"})", ""},
    {"glm", "GlmFor GlmModel", "llama", R"({"attention_bias":true,"_o_bias":false,"_mlp_bias":false,"head_dim":128})",
     ""},
    {"glm4 glm4v glm4v_text", "Glm4For Glm4Model Glm4v", "glm",
     R"({"attention_bias":false,"norms_per_layer":4,"head_dim":null})",
     R"({"vocab_size":151552,"hidden_size":4096,"intermediate_size":13696,"num_hidden_layers":40,"num_attention_heads":32,
         "num_key_value_heads":2,"max_position_embeddings":32768})"},
    {"glm4_moe glm4v_moe_text glm4v_moe", "Glm4Moe Glm4vMoe", "llama",
     R"({"_o_bias":false,"_mlp_bias":false,"router_correction_bias":true,"_qk_norm":"use_qk_norm","qk_norm_kind":"per_head",
         "num_local_experts":128,"num_experts_per_tok":8,"moe_intermediate_size":1408,"n_shared_experts":1,
         "first_k_dense_replace":1})",
     ""},

    {"solar_open", "SolarOpen", "glm4_moe", R"({"_qk_norm":false,"first_k_dense_replace":0})", ""},

    // --- Gemma ---
    {"gemma", "GemmaFor GemmaModel", "llama",
     R"({"tie_word_embeddings":true,"hidden_act":"gelu_pytorch_tanh","head_dim":256,"_mlp_bias":false})",
     R"({"vocab_size":256000,"hidden_size":3072,"intermediate_size":24576,"num_hidden_layers":28,"num_attention_heads":16,
         "num_key_value_heads":16,"max_position_embeddings":8192})"},
    {"gemma2", "Gemma2", "gemma",
     R"({"norms_per_layer":4,"sliding_window":4096,"_window":"some","_pattern":"1s1f","attn_logit_softcapping":50})",
     R"({"hidden_size":2304,"intermediate_size":9216,"num_hidden_layers":26,"num_attention_heads":8,
         "num_key_value_heads":4})"},
    {"gemma3_text gemma3", "Gemma3For Gemma3Text Gemma3Model", "gemma2",
     R"({"_pattern":null,"sliding_window_pattern":6,"attn_logit_softcapping":null,"_qk_norm":true,"qk_norm_kind":"per_head",
         "_local_rotary":true})",
     R"({"vocab_size":262208,"max_position_embeddings":131072})"},
    {"gemma3n_text gemma3n", "Gemma3n", "gemma3_text",
     R"({"sliding_window_pattern":5,"sliding_window":512,"num_kv_shared_layers":15,"kv_shared_projections":true,
         "laurel_rank":64,"altup_num_inputs":4,"hidden_size_per_layer_input":256,"vocab_size_per_layer_input":262144})",
     R"({"vocab_size":262400,"hidden_size":2048,"intermediate_size":16384,"num_hidden_layers":35,
         "num_key_value_heads":2,"max_position_embeddings":32768})"},
    {"gemma4_text gemma4", "Gemma4", "gemma3_text",
     R"({"sliding_window":512,"global_head_dim":512,"attention_k_eq_v":false,"num_kv_shared_layers":0,"_local_rotary":false,
         "hidden_size_per_layer_input":256,"vocab_size_per_layer_input":262144,"enable_moe_block":false,
         "_dense_beside_experts":true,"router_scales":true,"_extra_norms_with_experts":3})",
     R"({"vocab_size":262144,"num_hidden_layers":30})"},

    // --- Llama 4, gpt-oss, MiniMax, Hunyuan, MiMo, Step ---
    {"llama4_text llama4", "Llama4", "llama",
     R"({"_window":"some","attention_chunk_size":8192,"_rope_is_local":true,"_pattern":"3s1f","_qk_norm":"use_qk_norm",
         "use_qk_norm":true,"qk_norm_kind":"none_weights","head_dim":128,"num_local_experts":16,"num_experts_per_tok":1,
         "interleave_moe_layer_step":1,"n_shared_experts":1,"_mlp_bias":false})",
     R"({"vocab_size":202048,"hidden_size":5120,"intermediate_size":8192,"intermediate_size_mlp":16384,
         "num_hidden_layers":48,"num_attention_heads":40,"num_key_value_heads":8,"max_position_embeddings":131072})"},
    {"gpt_oss", "GptOss", "llama",
     R"({"attention_bias":true,"_mlp_bias":false,"_window":"some","sliding_window":128,"_pattern":"1s1f","head_dim":64,
         "attention_sinks":true,"router_bias":true,"expert_bias":true,"num_local_experts":128,"num_experts_per_tok":4,
         "swiglu_limit":7})",
     ""},
    {"minimax minimax_m1 minimax_text_01 MiniMaxText01", "MiniMaxFor MiniMaxM1 MiniMaxText01 MiniMaxModel", "mixtral",
     R"({"_window":null,"linear":{"kind":"lightning"},"layer_types":null})", ""},
    {"minimax_m2", "MiniMaxM2", "mixtral",
     R"({"_window":null,"_qk_norm":"use_qk_norm","use_qk_norm":true,"qk_norm_kind":"full","num_local_experts":256,
         "num_experts_per_tok":8,"router_correction_bias":true,"_router_bias_field":"use_routing_bias",
         "use_routing_bias":true,"head_dim":128})",
     ""},
    {"minimax_m3 minimax_m3_vl_text minimax_m3_vl", "MiniMaxM3", "minimax_m2",
     R"({"qk_norm_kind":"per_head","index_plain":true,"_index_by_layer_type":true,"num_local_experts":128,
         "num_experts_per_tok":4,"n_shared_experts":1})",
     R"({"vocab_size":200064,"hidden_size":6144,"intermediate_size":3072,"dense_intermediate_size":12288,
         "shared_intermediate_size":3072,"num_hidden_layers":60,"num_attention_heads":64,"num_key_value_heads":4,
         "max_position_embeddings":524288})"},
    {"hunyuan_v1_dense", "HunYuanDenseV1", "llama", R"({"_mlp_bias":false,"_qk_norm":true,"qk_norm_kind":"per_head"})",
     ""},
    {"hunyuan hunyuan_v1_moe", "HunYuanFor HunYuanMoEV1 HunYuanMoE HunYuanModel HunYuanV1", "llama",
     R"({"_mlp_bias":false,"_qk_norm":"use_qk_norm","use_qk_norm":true,"qk_norm_kind":"per_head",
         "num_shared_expert":1})",
     ""},
    {"mimo_v2_flash", "MiMoV2Flash", "llama",
     R"({"_o_bias":false,"_mlp_bias":false,"_window":"some","router_correction_bias":true,"attention_sinks":true,
         "sinks_in_sliding_only":true})",
     ""},

    // --- OLMo, Cohere, Grok, DBRX, StableLM ---
    {"olmo", "OlmoFor OlmoModel", "llama", R"({"norm":"layernorm_nonparametric","_mlp_bias":false})", ""},
    {"hf_olmo", "OLMoFor OLMoModel OLMo", "olmo",
     R"({"_vocab_field":"embedding_size","_ffn_halved":true,"tie_word_embeddings":true})", ""},
    {"olmo2", "Olmo2", "llama", R"({"_mlp_bias":false,"_qk_norm":true,"qk_norm_kind":"full"})", ""},
    {"olmo3", "Olmo3", "olmo2", R"({"_window":"some","sliding_window":4096,"_pattern":"3s1f"})", ""},
    {"olmoe", "Olmoe OlmoE", "olmo2", R"({"num_local_experts":64,"num_experts_per_tok":8})", ""},
    {"cohere", "CohereFor CohereModel", "llama",
     R"({"tie_word_embeddings":true,"norm":"layernorm","norms_per_layer":1,"parallel_residual":true,"_mlp_bias":false,
         "_qk_norm":"use_qk_norm","qk_norm_kind":"full"})",
     R"({"vocab_size":256000,"hidden_size":8192,"intermediate_size":22528,"num_hidden_layers":40,"num_attention_heads":64,
         "max_position_embeddings":8192})"},
    {"cohere2", "Cohere2", "cohere",
     R"({"_qk_norm":false,"_window":"some","sliding_window":4096,"sliding_window_pattern":4})", "{}"},
    {"dbrx", "Dbrx DbrxFor", "llama", R"({"norm":"layernorm","_qkv_bias":false,"_o_bias":false,"_mlp_bias":false})",
     ""},
    {"grok-1 grok grok_1", "Grok1 GrokFor", "llama",
     R"({"tie_word_embeddings":true,"norms_per_layer":4,"hidden_act":"gelu","_unmodelled":["residual_moe"],
         "num_local_experts":8,"num_experts_per_tok":2,
         "_qkv_bias":false,"_o_bias":false,"_mlp_bias":false})",
     ""},
    {"stablelm stablelm_epoch", "StableLm StableLM", "llama",
     R"({"norm":"layernorm","norm_bias":true,"_qkv_bias":"use_qkv_bias","_o_bias":false,"_mlp_bias":false,
         "_qk_norm":"qk_layernorm","qk_norm_kind":"full","_parallel":"use_parallel_residual",
         "_one_norm_if":"use_parallel_residual","partial_rotary_factor":0.25})",
     ""},

    // --- Phi ---
    {"phi", "PhiFor PhiModel", "",
     R"({"tie_word_embeddings":false,"hidden_act":"gelu_new","norm":"layernorm","norm_bias":true,"norms_per_layer":1,
         "parallel_residual":true,"_qkv_bias":true,"_o_bias":true,"_mlp_bias":true,"_head_bias":true,
         "partial_rotary_factor":0.5,"_ffn_multiple":4,"_unmodelled":["qk_layernorm"]})",
     ""},
    {"phi-msft mixformer-sequential", "MixFormerSequential", "phi", "{}", ""},
    {"phi3 phi3_v phi4mm phi4_multimodal", "Phi3For Phi3Model Phi3V Phi4MM Phi4Multimodal", "llama",
     R"({"_qkv_bias":false,"_o_bias":false,"_mlp_bias":false,"_window":"all"})",
     R"({"vocab_size":32064,"hidden_size":3072,"intermediate_size":8192,"max_position_embeddings":4096})"},
    {"phimoe", "PhiMoE Phimoe PhimoeFor", "llama",
     R"({"norm":"layernorm","norm_bias":true,"_mlp_bias":false,"_head_bias":"lm_head_bias","_window":"all",
         "num_local_experts":16,"num_experts_per_tok":2})",
     ""},
    {"phi3small", "Phi3Small", "phi",
     R"({"_gated":true,"tie_word_embeddings":true,"hidden_act":"gegelu","norms_per_layer":2,"parallel_residual":false,
         "_head_bias":false,"partial_rotary_factor":null})",
     ""},

    // --- the GPT-2 block: LayerNorm with biases, an MLP of four times hidden, biases everywhere ---
    {"gpt2", "GPT2", "",
     R"({"tie_word_embeddings":true,"hidden_act":"gelu_new","norm":"layernorm","norm_bias":true,"position":"learned",
         "_qkv_bias":true,"_o_bias":true,"_mlp_bias":true,"_ffn_multiple":4,"_unmodelled":["add_cross_attention"]})",
     R"({"vocab_size":50257,"n_positions":1024,"n_embd":768,"n_layer":12,"n_head":12})"},
    {"gpt_bigcode", "GPTBigCode", "gpt2", R"({"multi_query":true})", ""},
    {"gpt_neo", "GPTNeoFor GPTNeoModel", "gpt2",
     R"({"_qkv_bias":false,"max_position_embeddings":2048,"window_size":256,"_window":"some"})", ""},
    {"gptj", "GPTJ", "gpt2",
     R"({"tie_word_embeddings":false,"position":"rope","norms_per_layer":1,"parallel_residual":true,"_qkv_bias":false,
         "_o_bias":false,"_head_bias":true,"rotary_dim":64})",
     ""},
    {"codegen", "CodeGen", "gptj", "{}", ""},
    {"gpt_neox", "GPTNeoX", "gpt2",
     R"({"tie_word_embeddings":false,"hidden_act":"gelu","position":"rope","_qkv_bias":"attention_bias",
         "_o_bias":"attention_bias","attention_bias":true,"_parallel":"use_parallel_residual","use_parallel_residual":true,
         "rotary_pct":0.25})",
     ""},
    {"persimmon", "Persimmon", "gpt2",
     R"({"tie_word_embeddings":false,"hidden_act":"relu2","position":"rope","_qk_norm":"qk_layernorm","qk_layernorm":true,
         "qk_norm_kind":"per_head","partial_rotary_factor":0.5})",
     ""},
    {"starcoder2", "Starcoder2", "gpt2",
     R"({"hidden_act":"gelu_pytorch_tanh","position":"rope","_qkv_bias":"use_bias","_o_bias":"use_bias",
         "_mlp_bias":"use_bias","use_bias":true,"num_key_value_heads":2,"sliding_window":null,"_window":"all"})",
     ""},
    {"nemotron", "NemotronFor NemotronModel", "llama",
     R"({"_gated":false,"hidden_act":"relu2","norm":"layernorm","norm_bias":true,"partial_rotary_factor":0.5})", ""},
    {"opt", "OPT", "gpt2",
     R"({"hidden_act":"relu","_position_offset":2,"do_layer_norm_before":true,"_qkv_bias":"enable_bias",
         "_o_bias":"enable_bias","_mlp_bias":"enable_bias","enable_bias":true})",
     ""},
    {"bloom", "Bloom", "gpt2",
     R"({"hidden_act":"gelu","position":"alibi","embedding_norm":true,"max_position_embeddings":2048})", ""},
    {"mpt", "MPT Mpt", "",
     R"({"tie_word_embeddings":true,"hidden_act":"gelu","norm":"layernorm","no_bias":true,"_norm_bias":"!no_bias",
         "_qkv_bias":"!no_bias","_o_bias":"!no_bias","_mlp_bias":"!no_bias","_qk_norm":"qk_ln","qk_norm_kind":"full",
         "alibi":true,"learned_pos_emb":true,"expansion_ratio":4})",
     ""},
    {"falcon RefinedWebModel RefinedWeb", "FalconFor FalconModel RW", "",
     R"({"tie_word_embeddings":true,"hidden_act":"gelu","norm":"layernorm","norm_bias":true,
         "new_decoder_architecture":false,"multi_query":true,"parallel_attn":true,"_qkv_bias":"bias","_o_bias":"bias",
         "_mlp_bias":"bias","_ffn_multiple":4,"max_position_embeddings":2048})",
     ""},

    // --- state space ---
    {"mamba", "Mamba", "",
     R"({"tie_word_embeddings":true,"norms_per_layer":1,"position":"none","ffn_kinds":"x","_no_ffn":true,"_no_attention":true,
         "_pattern":"1m","linear":{"kind":"mamba1"},"state_size":16,"conv_kernel":4,"expand":2,"use_conv_bias":true,
         "_mixer_bias":"use_bias"})",
     ""},
    {"falcon_mamba", "FalconMamba", "mamba", "{}", ""},
    {"mamba2", "Mamba2", "mamba",
     R"({"linear":{"kind":"mamba2"},"tie_word_embeddings":false,"num_heads":128,"head_dim":64,"state_size":128,
         "n_groups":8})",
     ""},
    {"lfm2", "Lfm2For Lfm2Model Lfm2VL", "llama",
     R"({"tie_word_embeddings":true,"_qkv_bias":false,"_o_bias":false,"_mlp_bias":false,"_qk_norm":true,
         "qk_norm_kind":"per_head","linear":{"kind":"short_conv"},"conv_L_cache":3,"_mixer_bias":"conv_bias",
         "_attention_by_index":"full_attn_idxs","block_auto_adjust_ff_dim":true,"block_multiple_of":256})",
     R"({"vocab_size":65536,"hidden_size":2560,"intermediate_size":12288,"num_key_value_heads":8,
         "max_position_embeddings":128000})"},
    {"lfm2_moe", "Lfm2Moe", "lfm2",
     R"({"block_auto_adjust_ff_dim":false,"num_local_experts":32,"num_experts_per_tok":4,"moe_intermediate_size":1792,
         "num_dense_layers":2,"router_correction_bias":true,"_router_bias_field":"use_expert_bias",
         "use_expert_bias":true})",
     ""},
    {"jamba", "Jamba", "llama",
     R"({"_qkv_bias":false,"_o_bias":false,"_mlp_bias":false,"position":"none","attn_layer_period":8,
         "attn_layer_offset":4,"expert_layer_period":2,"expert_layer_offset":1,"num_local_experts":16,
         "num_experts_per_tok":2,"linear":{"kind":"mamba1","inner_norms":true},"state_size":16,"conv_kernel":4,"expand":2,
         "use_conv_bias":true,"_mixer_bias":"mamba_proj_bias"})",
     ""},
    {"bamba", "Bamba", "llama",
     R"({"_mlp_bias":"mlp_bias","linear":{"kind":"mamba2"},"mamba_num_heads":128,"mamba_head_dim":"auto","n_groups":1,
         "state_size":256,"conv_kernel":4,"expand":2,"use_conv_bias":true,"_mixer_bias":"mamba_proj_bias",
         "_attention_by_index":"attn_layer_indices","partial_rotary_factor":0.5})",
     ""},
    {"nemotron_h", "NemotronH", "",
     R"({"tie_word_embeddings":false,"hidden_act":"relu2","norms_per_layer":1,"position":"none",
         "_qkv_bias":"attention_bias","_o_bias":"attention_bias","_mlp_bias":"mlp_bias","_ffn_or_mixer":true,
         "router_correction_bias":true,"linear":{"kind":"mamba2"},"state_size":128,"n_groups":8,"conv_kernel":4,
         "use_conv_bias":true,"_mixer_bias":"use_bias"})",
     ""},
};

struct Other {
  std::string_view model_types, what;
};

constexpr Other kOthers[] = {
    {"bert roberta distilbert albert electra deberta deberta-v2 camembert xlm-roberta mpnet modernbert nomic_bert "
     "longformer "
     "bigbird big_bird xlnet funnel ernie esm layoutlm layoutlmv3 squeezebert convbert rembert ibert megatron-bert "
     "neobert eurobert",
     "an encoder"},
    {"t5 mt5 umt5 longt5 bart mbart pegasus marian m2m_100 blenderbot blenderbot-small led prophetnet "
     "switch_transformers "
     "encoder-decoder fsmt nllb-moe t5gemma plbart bigbird_pegasus pix2struct",
     "an encoder-decoder"},
    {"whisper wav2vec2 hubert speech_to_text seamless_m4t wavlm musicgen bark encodec moonshine speecht5 vits clap",
     "a speech model"},
    {"clip vit siglip siglip2 swin resnet dinov2 dinov3_vit beit convnext deit detr sam blip segformer mobilevit "
     "chinese_clip "
     "vision-encoder-decoder owlvit yolos depth_anything flava align altclip",
     "a vision model"},
    {"rwkv rwkv5 rwkv6 rwkv7 xlstm recurrent_gemma hyena stripedhyena retnet",
     "a recurrent model whose layers are not modelled"},
    {"gemma4_assistant", "a drafting head of another model"},
};

bool holds_word(std::string_view words, std::string_view word) {
  if (word.empty() || word.find(' ') != std::string_view::npos) return false;
  for (size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

/// The longest of `prefixes` that `name` begins with.
std::string_view longest_prefix(std::string_view prefixes, std::string_view name) {
  std::string_view longest;
  while (!prefixes.empty()) {
    const std::string_view prefix = prefixes.substr(0, prefixes.find(' '));
    if (name.starts_with(prefix) && prefix.size() > longest.size()) longest = prefix;
    prefixes.remove_prefix(std::min(prefixes.size(), prefix.size() + 1));
  }
  return longest;
}

// How the names of classes end that hold a language model.
constexpr std::string_view kHeads[] = {"ForCausalLM",
                                       "ModelForCausalLM",
                                       "LMHeadModel",
                                       "ForConditionalGeneration",
                                       "Model",
                                       "Config",
                                       "ForSequenceClassification",
                                       "ForTokenClassification",
                                       "ForQuestionAnswering",
                                       "ForRewardModel",
                                       "LMHeadCustomModel",
                                       "ForConditionalGenerationMTP"};

struct ClassMatch {
  const Family* family = nullptr;
  std::string_view prefix;
};

ClassMatch match_class(std::string_view architecture) {
  ClassMatch best;
  for (const Family& family : kFamilies) {
    const std::string_view prefix = longest_prefix(family.classes, architecture);
    if (prefix.size() > best.prefix.size()) best = {&family, prefix};
  }
  return best;
}

}  // namespace

const Family* find_family(std::string_view model_type) {
  for (const Family& family : kFamilies)
    if (holds_word(family.model_types, model_type)) return &family;
  return nullptr;
}

const Family* find_family_of_class(std::string_view architecture) { return match_class(architecture).family; }

const Family* find_family_of_own_class(std::string_view architecture) {
  const ClassMatch match = match_class(architecture);
  std::string_view stem = match.prefix;
  for (std::string_view head : {"For", "Model"})  // with which the table tells "GlmFor" from "Glm4"
    if (stem.ends_with(head)) stem.remove_suffix(head.size());
  for (std::string_view head : kHeads)
    if (architecture.substr(stem.size()) == head) return match.family;
  return nullptr;
}

bool is_language_model_class(std::string_view architecture) {
  for (std::string_view head : kHeads)
    if (architecture.ends_with(head)) return true;
  return false;
}

std::string_view why_not_a_decoder(std::string_view model_type) {
  for (const Other& other : kOthers)
    if (holds_word(other.model_types, model_type)) return other.what;
  return "";
}

}  // namespace vram
