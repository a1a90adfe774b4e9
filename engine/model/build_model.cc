#include <algorithm>
#include <cmath>

#include "engine/model/faults.h"
#include "engine/model/layer_shape.h"
#include "engine/model/matrices.h"
#include "engine/model/model.h"

namespace vram {
namespace {

constexpr size_t kMostKinds = 255;  // Model::layers holds them in a byte

double parameters_of(const Matrices& matrices) {
  double sum = 0;
  for (const Matrix& m : matrices) sum += m.count();
  return sum;
}

/// Kinds in order of appearance, and which one each layer is. False: more kinds than a model can hold.
bool list_layers(const Architecture& a, bool with_matrices, Model& model) {
  const std::string letters = expand_pattern(a.pattern);
  std::vector<LayerShape> shapes;
  for (size_t i = 0; i < static_cast<size_t>(a.layers); ++i) {
    const LayerShape shape = layer_shape(a, letters, i);
    const size_t k = static_cast<size_t>(std::find(shapes.begin(), shapes.end(), shape) - shapes.begin());
    if (k == kMostKinds) return false;
    if (k == shapes.size()) {
      shapes.push_back(shape);
      model.kinds.push_back(layer_kind(a, shape));
      if (!with_matrices) model.kinds.back().matrices.clear();
    }
    model.layers.push_back(static_cast<uint8_t>(k));
  }
  return true;
}

void count_layers(Model& model) {
  const size_t layers = model.layers.size();
  model.counts.assign(model.kinds.size() * (layers + 1), 0);
  for (size_t k = 0; k < model.kinds.size(); ++k) {
    uint16_t* const before = model.counts.data() + k * (layers + 1);
    for (size_t i = 0; i < layers; ++i)
      before[i + 1] = static_cast<uint16_t>(before[i] + (model.layers[i] == k ? 1 : 0));
  }
}

void list_embedding(const Architecture& a, Matrices& out) {
  const double width = a.embedding_dim > 0 ? a.embedding_dim : a.hidden;
  out.push_back({"embed_tokens", Part::embedding, Shard::vocab, a.vocab, width, 1, false});
  if (a.learned_positions) {
    const double rows = a.position_rows > 0 ? a.position_rows : a.max_positions;
    out.push_back({"embed_positions", Part::position, Shard::replicated, rows, a.hidden, 1, false});
  }
  if (a.embedding_dim > 0) out.push_back({"project_in", Part::other, Shard::replicated, a.hidden, width});
  if (a.embedding_norm) add_norm(a, "embedding_norm", a.hidden, 1, out);
  if (a.per_layer_input > 0) {  // Gemma 3n and 4: every layer's own embeddings, in one table
    const double packed = a.layers * a.per_layer_input;
    out.push_back({"embed_tokens_per_layer", Part::layer_embedding, Shard::vocab, a.per_layer_vocab, packed, 1, false});
    out.push_back({"per_layer_model_projection", Part::other, Shard::replicated, packed, a.hidden});
    add_norm(a, "per_layer_projection_norm", a.per_layer_input, 1, out);
  }
  if (a.altup_inputs > 1)
    out.push_back({"altup_projections", Part::other, Shard::replicated, a.hidden, a.hidden, a.altup_inputs - 1});
}

void list_head(const Architecture& a, Matrices& out) {
  const double width = a.embedding_dim > 0 ? a.embedding_dim : a.hidden;
  if (a.altup_inputs > 1)
    out.push_back(
        {"altup_unembed_projections", Part::other, Shard::replicated, a.hidden, a.hidden, a.altup_inputs - 1});
  if (a.final_norm) add_norm(a, "final_norm", a.hidden, 1, out);
  if (a.embedding_dim > 0) out.push_back({"project_out", Part::other, Shard::replicated, width, a.hidden});
  out.push_back({"lm_head", Part::head, Shard::vocab, a.vocab, width, a.tied ? 0.0 : 1.0});
  if (a.head_bias) out.push_back({"lm_head_bias", Part::bias, Shard::vocab, a.vocab, 1, 1, false});
}

/// A multi-token prediction module: arXiv 2412.19437, section 2.2. One more layer of the last attention kind, the
/// projection of two hidden states to one, three norms; embedding and head are the model's own.
void list_mtp(const Architecture& a, Model& model) {
  size_t last = model.layers.size(), ffn = model.layers.size();
  while (last > 1 && model.layer(last - 1).attention.heads <= 0) --last;
  while (ffn > 1 && model.layer(ffn - 1).ffn.kind == FfnKind::none) --ffn;
  LayerKind module = model.layer(last - 1);
  if (module.ffn.kind == FfnKind::none) {  // layers that are a mixer or an FFN: a module has one of each
    const LayerKind& other = model.layer(ffn - 1);
    module.ffn = other.ffn;
    module.norms += other.norms;
    module.matrices.insert(module.matrices.end(), other.matrices.begin(), other.matrices.end());
  }
  module.matrices.push_back({"eh_proj", Part::other, Shard::replicated, a.hidden, 2 * a.hidden});
  add_norm(a, "mtp_norms", a.hidden, 3, module.matrices);
  module.norms += 3;
  model.mtp.assign(static_cast<size_t>(a.mtp_layers), module);
}

double norms_listed(const Model& model) {
  double norms = model.architecture.final_norm ? 1 : 0;
  for (uint8_t k : model.layers) norms += model.kinds[k].norms;
  return norms;
}

void count_parameters(Model& model) {
  const Architecture& a = model.architecture;
  const double around = parameters_of(model.embedding) + parameters_of(model.head) + parameters_of(model.outside);
  model.exact_parameters = model.active_parameters = around;
  for (size_t k = 0; k < model.kinds.size(); ++k) {
    const LayerKind& kind = model.kinds[k];
    const double layers = model.layers_of_kind(k, 0, model.layers.size());
    model.exact_parameters += layers * kind.parameters();
    model.active_parameters += layers * kind.active_parameters();
    if (a.router_correction_bias && kind.ffn.kind == FfnKind::moe)
      model.correction_bias_parameters += layers * kind.ffn.experts;
  }
  for (const Matrix& m : model.embedding)
    if (is_table(m.part)) model.embedding_parameters += m.count();
}

/// Counts are integers held in doubles: beyond 2^53 they would not be.
bool too_large(const Model& model) {
  double mtp = 0;
  for (const LayerKind& module : model.mtp) mtp += module.parameters();
  return !(model.exact_parameters + mtp <= 9007199254740992.0);
}

Model without_shape(Model model, std::vector<ModelFault>* faults) {
  if (faults) faults->push_back({"parameters", plain_number(model.exact_parameters), "more than 2^53 parameters"});
  Model bare;
  bare.architecture = std::move(model.architecture);
  bare.nominal_parameters = model.nominal_parameters;
  return bare;
}

}  // namespace

Model build_model(const Architecture& a, double nominal_parameters, std::vector<ModelFault>* faults) {
  Model model;
  model.architecture = a;
  model.nominal_parameters = nominal_parameters;
  const Completeness known = check_architecture(a, faults);
  model.has_shape = known.shape;
  model.has_kv_shape = known.kv_shape;
  if (known.layers && !list_layers(a, known.shape, model)) {
    if (faults) faults->push_back({"num_hidden_layers", "", "more than 255 different kinds of layers"});
    model.kinds.clear();
    model.layers.clear();
    model.has_shape = model.has_kv_shape = false;
  }
  count_layers(model);
  if (!model.has_shape) return model;
  list_embedding(a, model.embedding);
  list_head(a, model.head);
  const double missing_norms = a.norms_total > 0 ? a.norms_total - norms_listed(model) : 0;
  add_norm(a, "other_norms", a.hidden, missing_norms, model.head);
  if (a.extra_params > 0)
    model.outside.push_back({"outside", Part::other, Shard::replicated, a.extra_params, 1, 1, false});
  if (a.mtp_layers > 0) list_mtp(a, model);
  count_parameters(model);
  if (too_large(model)) return without_shape(std::move(model), faults);
  if (nominal_parameters <= 0) model.nominal_parameters = model.exact_parameters;
  return model;
}

}  // namespace vram
