#include "engine/serving/gguf.h"

#include "engine/serving/gguf_mixtures.h"
#include "engine/serving/llamacpp.h"

namespace vram {
namespace {

using enum GgufWhere;

bool in_layer(GgufWhere where, size_t i, size_t n) {
  switch (where) {
    case always:
    case grouped:
      return true;
    case more_bits:  // use_more_bits
      return i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2;
    case first_eighth:
      return i < n / 8;
    case first_sixteenth:
      return i < n / 16;
    case first_four:
      return i < 4;
    case first_two:
      return i < 2;
    default:
      return false;
  }
}

constexpr const char* kFusedInput = "attn_qkv";

bool eight_experts(const Model& model) { return model.architecture.experts == 8; }

/// LLM_TYPE_70B, whose value projections are an eighth of the query's.
bool is_70b(const Architecture& a) { return a.layers == 80 && a.kv_heads < a.heads; }

bool is_grouped(const GgufMixture& mixture, const Architecture& a) {
  return a.heads >= 4 * a.kv_heads || (mixture.below_3_bits && a.experts >= 4);
}

GgufChoice value_choice(const GgufMixture& mixture, const Model& model) {
  const Architecture& a = model.architecture;
  if (eight_experts(model) && !mixture.below_3_bits) return {always, &kQ8};
  GgufChoice choice = mixture.value;
  if (choice.where == grouped && !is_grouped(mixture, a)) choice = {never, nullptr, choice.rest};
  if (is_70b(a) && !mixture.below_3_bits) {
    const auto widened = [](const GgufType* type) { return type == &kQ3K || type == &kQ4K ? &kQ5K : type; };
    choice.rest = widened(choice.rest != nullptr ? choice.rest : mixture.own);
    if (choice.wide != nullptr) choice.wide = widened(choice.wide);
  }
  return choice;
}

GgufChoice everywhere(const GgufType* type) { return {always, type}; }

GgufChoice attention_choice(const GgufMixture& mixture, const Model& model, Part part) {
  if (fuses_qkv(model.architecture) && part != Part::o) {
    return mixture.fused_qkv != nullptr ? everywhere(mixture.fused_qkv) : GgufChoice{};
  }
  if (part == Part::v) return value_choice(mixture, model);
  const bool eight = eight_experts(model);
  if (part == Part::o && eight && mixture.output_of_eight) return everywhere(&kQ5K);
  if (part == Part::o && !eight && mixture.output != nullptr) return everywhere(mixture.output);
  if (part == Part::k && eight) return everywhere(mixture.below_3_bits ? &kQ4K : &kQ8);
  const bool query_key = part == Part::q || part == Part::k;
  return query_key && mixture.query_key != nullptr ? everywhere(mixture.query_key) : GgufChoice{};
}

/// The choice for one matrix that is quantised.
GgufChoice choice_of(const GgufMixture& mixture, const Model& model, const Matrix& matrix) {
  switch (matrix.part) {
    case Part::q:
    case Part::k:
    case Part::v:
    case Part::o:
      return attention_choice(mixture, model, matrix.part);
    case Part::down:
    case Part::expert_down:
    case Part::shared_down:
      return mixture.file == "mxfp4" && matrix.part == Part::expert_down ? everywhere(&kMxfp4) : mixture.down;
    case Part::expert_gate:
    case Part::expert_up:
      return mixture.file == "mxfp4" ? everywhere(&kMxfp4) : GgufChoice{};
    case Part::embedding:
      if (model.architecture.tied) return everywhere(mixture.head);
      return mixture.embedding != nullptr ? everywhere(mixture.embedding) : GgufChoice{};
    case Part::head:
      return everywhere(mixture.head);
    case Part::linear_mixer: {
      const bool fused = matrix.name == std::string_view(kFusedInput) && mixture.fused_qkv != nullptr;
      return fused ? everywhere(mixture.fused_qkv) : GgufChoice{};
    }
    default:
      return {};
  }
}

/// One-dimensional tensors, routers and convolutions are kept in F32 (tensor_allows_quantization).
bool stays_f32(const Matrix& matrix) {
  const bool table =
      matrix.part == Part::embedding || matrix.part == Part::layer_embedding || matrix.part == Part::head;
  return !table && (!matrix.linear || matrix.part == Part::router);
}

}  // namespace

bool is_gguf(const Format& format, bool llamacpp) {
  return (!format.blocks_only || llamacpp) && gguf_mixture(format.id) != nullptr;
}

std::vector<Matrix> gguf_tensors(const Model& model, const Matrix& matrix) {
  const LinearMixer& m = model.architecture.linear;
  if (matrix.name != std::string_view("in_proj_qkvz")) return {matrix};
  Matrix input = matrix, gate = matrix;
  gate.rows = m.value_heads * m.value_head_dim;
  input.rows = matrix.rows - gate.rows;
  input.name = kFusedInput;
  return {input, gate};
}

GgufStorage gguf_storage(const Format& file, const Model& model, const Matrix& matrix, size_t kind, size_t first,
                         size_t count) {
  const GgufMixture* mixture = gguf_mixture(file.id);
  if (mixture == nullptr) return {file.bits, 0, 0};
  if (stays_f32(matrix)) return {kF32.bits, 0, 0};
  const GgufChoice choice = choice_of(*mixture, model, matrix);
  const GgufType* rest = choice.rest != nullptr ? choice.rest : mixture->own;
  GgufStorage result;
  result.bits = gguf_bits(rest, matrix.cols);
  if (choice.where == never || choice.wide == nullptr) return result;
  result.raised = gguf_bits(choice.wide, matrix.cols);
  if (choice.where == always || choice.where == grouped) {
    result.bits = result.raised;
    return result;
  }
  const size_t layers = model.layers.size();
  for (size_t i = first; i < first + count && i < layers; ++i) {
    if (model.layers[i] == kind && in_layer(choice.where, i, layers)) result.raised_layers += 1;
  }
  return result;
}

}  // namespace vram
