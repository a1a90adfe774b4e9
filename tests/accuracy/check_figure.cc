#include "tests/accuracy/check_figure.h"

#include <string_view>

namespace vram::accuracy {
namespace {

constexpr NamedFigure kNamedFigures[] = {
    {"weights", Figure::weights},
    {"weight_", Figure::weights},
    {"checkpoint", Figure::weights},
    {"budget", Figure::budget},
    {"process", Figure::process},
    {"engine", Figure::weights},
    {"model_gib", Figure::weights},
    {"model_mib", Figure::weights},
    {"model_load", Figure::weights},
    {"model_mem", Figure::weights},
    {"mem_usage", Figure::weights},
    {"loaded", Figure::weights},
    {"compute", Figure::buffers},
    {"graph", Figure::buffers},
    {"activation", Figure::buffers},
    {"mlp_stage", Figure::buffers},
    {"sampler", Figure::buffers},
    {"profile_peak", Figure::buffers},
    {"torch_peak", Figure::buffers},
    {"model_size", Figure::weights},
    {"loading", Figure::weights},
    {"nonrepeating", Figure::head},
    {"host_compute", Figure::host_buffers},
    {"token_embd", Figure::host_weights},
    {"embd_on_host", Figure::host_weights},
    {"pool", Figure::pool_and_table},
    {"params", Figure::parameters},
    {"n_layer", Figure::file_layers},
    {"concurrency", Figure::concurrency},
    {"swa_cells", Figure::window_cells},
    {"swa_tokens", Figure::window_cells},
    {"swa_kv_tokens", Figure::window_cells},
    {"sliding_tokens", Figure::window_cells},
    {"sliding_pool_tokens", Figure::window_cells},
    {"window_pool_tokens", Figure::window_cells},
    {"window_tokens", Figure::window_cells},
    {"req_to_token", Figure::request_table},
    {"request_to_token", Figure::request_table},
    {"token_table", Figure::request_table},
    {"request_table", Figure::request_table},
    {"req_table", Figure::request_table},
    {"mtp", Figure::draft},
    {"draft", Figure::draft},
    {"attention_block", Figure::state_block},
    {"attn_block", Figure::state_block},
    {"hybrid_block", Figure::state_block},
    {"block_tokens", Figure::state_block},
    {"memory_pool", Figure::pool_and_table},
    {"static_pool", Figure::pool_and_table},
};

}  // namespace

const NamedFigure* named_figure(const std::string& name) {
  for (const NamedFigure& row : kNamedFigures)
    if (name.starts_with(row.name)) return &row;
  return nullptr;
}

const NamedFigure* figure_within(const std::string& name) {
  const NamedFigure* longest = nullptr;
  for (const NamedFigure& row : kNamedFigures) {
    const size_t at = name.find("_" + std::string(row.name));
    const bool longer =
        longest == nullptr || std::string_view(row.name).size() > std::string_view(longest->name).size();
    const bool captured = std::string_view(row.name) == "graph";  // "cuda_graph_gib"; llama.cpp's is a buffer
    if (at != std::string::npos && longer && !captured) longest = &row;
  }
  return longest;
}

}  // namespace vram::accuracy
