#include "engine/model/aliases.h"

namespace vram {
namespace {

struct Row {
  std::string_view field;
  std::string_view aliases[9];
};

// From the configuration_*.py (attribute_map and arguments) of transformers and of the models' own repositories.
constexpr Row kRows[] = {
    {"hidden_size", {"n_embd", "d_model", "n_embed", "model_dim", "dim"}},
    {"num_hidden_layers", {"n_layer", "n_layers", "num_layers", "num_transformer_layers"}},
    {"num_attention_heads", {"n_head", "n_heads", "num_heads"}},
    {"num_key_value_heads", {"num_kv_heads", "n_head_kv", "kv_n_heads", "n_kv_heads", "num_attention_groups"}},
    {"head_dim", {"attention_head_dim", "kv_channels", "head_size"}},
    {"intermediate_size", {"n_inner", "ffn_hidden_size", "ffn_dim", "ff_intermediate_size", "block_ff_dim"}},
    {"dense_intermediate_size", {"intermediate_size_mlp"}},
    {"vocab_size", {"padded_vocab_size", "embedding_size"}},
    {"max_position_embeddings",
     {"n_positions", "max_sequence_length", "max_seq_len", "model_max_length", "seq_length", "n_ctx",
      "max_seq_length"}},
    {"hidden_act", {"hidden_activation", "activation_function", "mlp_hidden_act", "activation"}},
    {"tie_word_embeddings", {"weight_tying"}},
    {"num_local_experts", {"n_routed_experts", "num_experts", "moe_num_experts", "num_moe_experts"}},
    {"num_experts_per_tok",
     {"num_experts_per_token", "experts_per_token", "moe_topk", "moe_top_k", "moe_k", "top_k_experts",
      "num_selected_experts", "moe_router_topk"}},
    {"moe_intermediate_size", {"expert_ffn_hidden_size", "moe_ffn_hidden_size", "ffn_hidden_size_expert"}},
    {"n_shared_experts", {"num_shared_experts", "num_shared_expert", "moe_num_shared_experts"}},
    {"shared_expert_intermediate_size",
     {"moe_shared_expert_intermediate_size", "shared_intermediate_size", "share_expert_dim",
      "moe_shared_expert_ffn_hidden_size"}},
    {"first_k_dense_replace", {"moe_layer_start_index", "num_dense_layers", "moe_layer_num_skipped"}},
    {"sliding_window", {"sliding_window_size", "attention_chunk_size", "window_size"}},
    {"sliding_window_pattern", {"_sliding_window_pattern"}},
    {"num_nextn_predict_layers", {"mtp_num_hidden_layers", "num_mtp_modules", "mtp_num_layers"}},
    {"partial_rotary_factor", {"rotary_pct", "rope_pct", "rotary_percent"}},
    {"index_n_heads", {"sparse_num_index_heads"}},
    {"index_head_dim", {"sparse_index_dim"}},
    {"index_topk_blocks", {"sparse_topk_blocks"}},
    {"index_block_size", {"sparse_block_size"}},
    {"state_size", {"mamba_d_state", "ssm_state_size", "d_state"}},
    {"conv_kernel", {"mamba_d_conv", "d_conv", "conv_kernel_size", "conv_L_cache"}},
    {"expand", {"mamba_expand"}},
    {"time_step_rank", {"mamba_dt_rank"}},
    {"use_conv_bias", {"mamba_conv_bias"}},
    {"mamba_num_heads", {"mamba_n_heads"}},
    {"mamba_head_dim", {"mamba_d_head"}},
    {"n_groups", {"mamba_n_groups"}},
    {"mamba_proj_bias", {"use_mamba_bias"}},
    {"mamba_ssm_dtype", {"mamba_ssm_cache_dtype"}},
    {"moe_latent_size", {"moe_latent_dim"}},
    {"layer_types", {"attention_layers"}},
    {"text_config", {"llm_config", "language_config", "thinker_config", "language_model"}},
    {"vision_config", {"vision_tower_config", "vision", "visual", "vit_config"}},
    {"dtype", {"torch_dtype"}},
};

}  // namespace

std::span<const std::string_view> aliases_of(std::string_view field) {
  for (const Row& row : kRows) {
    if (row.field != field) continue;
    size_t count = 0;
    while (count < std::size(row.aliases) && !row.aliases[count].empty()) ++count;
    return {row.aliases, count};
  }
  return {};
}

}  // namespace vram
