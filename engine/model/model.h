#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/model/architecture.h"

namespace vram {

/// Which matrix this is: what LoRA targets, quantisers and pipeline stages ask.
enum class Part : uint8_t {
  embedding,
  layer_embedding,  // of every layer's own, which no head shares
  position,
  q,
  k,
  v,
  qkv_other,
  o,
  gate,
  up,
  down,
  expert_gate,
  expert_up,
  expert_down,
  shared_gate,
  shared_up,
  shared_down,
  router,
  linear_mixer,
  norm,
  bias,
  head,
  correction_bias,
  other
};

constexpr bool is_table(Part part) {
  return part == Part::embedding || part == Part::layer_embedding || part == Part::position;
}
constexpr bool is_gate(Part part) {
  return part == Part::gate || part == Part::shared_gate || part == Part::expert_gate;
}
constexpr bool is_dense_mlp(Part part) { return part == Part::gate || part == Part::up || part == Part::down; }
constexpr bool is_shared_expert(Part part) {
  return part == Part::shared_gate || part == Part::shared_up || part == Part::shared_down;
}
constexpr bool is_routed_expert(Part part) {
  return part == Part::expert_gate || part == Part::expert_up || part == Part::expert_down;
}
/// Row-parallel linears take a cut input and give a whole output.
constexpr bool is_row_parallel(Part part) {
  return part == Part::o || part == Part::down || part == Part::shared_down || part == Part::expert_down;
}

/// How tensor and expert parallelism cut it.
enum class Shard : uint8_t {
  replicated,  // norms, routers, MLA down-projections, biases of row-parallel linears
  tensor,      // divided by tp (by heads, by ffn)
  kv_heads,    // divided by min(tp, kv_heads)
  vocab,       // divided by tp, rows padded first
  expert       // divided by etp and by ep
};

/// `copies` matrices of rows x cols (a vector has cols 1). Multiplied with every token unless an embedding;
/// an expert's with experts_per_token / experts of them.
struct Matrix {
  const char* name;  // "q_proj"
  Part part;
  Shard shard;
  double rows, cols;
  double copies = 1;
  bool linear = true;  // a GEMM weight: what k-bit quantisers, autocast copies and FLOPs count
  double count() const { return rows * cols * copies; }
};

enum class Mixer : uint8_t { full, sliding, linear, state_space, none };
enum class FfnKind : uint8_t { dense, moe, none };

/// Attention of one layer kind, elements.
struct Attention {
  double heads = 0, kv_heads = 0;
  double qk_head_dim = 0, v_head_dim = 0;
  double window = 0;                                                               // 0: sees everything
  double q_lora_rank = 0, kv_lora_rank = 0, nope_head_dim = 0, rope_head_dim = 0;  // MLA where kv_lora_rank > 0
  bool k_eq_v = false;
  bool reuses_kv = false;     // keeps no KV of its own (cross-layer sharing)
  double index_head_dim = 0;  // sparse attention's indexer keys cached a token
  /// Elements of K and V (or of MLA's latent) one token leaves in this layer's cache, all heads.
  double kv_elements_per_token() const;
};

struct Ffn {
  FfnKind kind = FfnKind::none;
  double width = 0;  // dense
  bool gated = false;
  double experts = 0, experts_per_token = 0, expert_width = 0, shared_width = 0;
};

/// One kind of layer; a model has few kinds and says which one each layer is.
struct LayerKind {
  Mixer mixer = Mixer::full;
  Attention attention;
  Ffn ffn;
  double norms = 2;  // hidden-size norms
  bool qk_norm = false;
  double state_elements = 0;  // kept a sequence by a linear or state-space mixer (recurrent state)
  double conv_state_elements = 0;
  std::vector<Matrix> matrices;

  double parameters() const;         // all
  double expert_parameters() const;  // those cut by ep (Shard::expert)
  double active_parameters() const;  // a token meets: experts x experts_per_token / experts
};

/// A model ready to be billed. Counts are exact integers held in doubles (below 2^53).
struct Model {
  std::string id, name, source;
  Architecture architecture;
  bool has_shape = false;     // layers, hidden, heads, vocab and an FFN are known: every matrix is listed
  bool has_kv_shape = false;  // layers and heads are known: KV cache and attention can be billed
  std::vector<LayerKind> kinds;
  std::vector<uint8_t> layers;    // kinds[layers[i]] is layer i
  std::vector<uint16_t> counts;   // counts[k * (layers + 1) + i]: layers of kind k before layer i
  std::vector<Matrix> embedding;  // first stage: token and position tables, embedding norm
  std::vector<Matrix> head;       // last stage: final norm, lm_head (listed with copies 0 where tied)
  std::vector<Matrix> outside;    // parameters outside the text model (vision tower ...): first stage
  std::vector<LayerKind> mtp;     // prediction modules, not in `parameters`

  double exact_parameters = 0;            // matrix by matrix; 0 without a shape
  double nominal_parameters = 0;          // plan key `params` where given, else exact: `parameters` of the report
  double published_parameters = 0;        // 0 = none published
  double active_parameters = 0;           // a token meets, input embedding included
  double embedding_parameters = 0;        // token and position tables (tied head not counted again)
  double correction_bias_parameters = 0;  // parameters without gradient and moments

  /// nominal / exact: every matrix is scaled by it. 1 without a shape or where `params` is not given.
  double scale() const { return exact_parameters > 0 ? nominal_parameters / exact_parameters : 1; }
  const LayerKind& layer(size_t i) const { return kinds[layers[i]]; }
  /// Layers of [first, first + count) that are of kind k.
  double layers_of_kind(size_t k, size_t first, size_t count) const;
  double moe_layers() const;
};

/// What importing or building a model can complain about.
struct ModelFault {
  std::string field;  // config.json field or plan key
  std::string given;
  std::string text;  // what is wrong and what is accepted
};

/// Lists every matrix of the architecture and counts them.
/// `nominal_parameters` 0: the exact count. Faults name missing or impossible fields (heads not dividing, ...);
/// the model is then what could be built (has_shape false where it is incomplete).
Model build_model(const Architecture& architecture, double nominal_parameters, std::vector<ModelFault>* faults);

}  // namespace vram
