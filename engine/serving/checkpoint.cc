#include "engine/serving/checkpoint.h"

#include "engine/model/layer_shape.h"
#include "engine/serving/gguf.h"
#include "engine/serving/weights.h"

namespace vram {

namespace {

/// Qwen's own GPTQ files of Gated DeltaNet's models leave attention, mixers and shared experts in 16 bit (their
/// quantization_config.dynamic: "-:.*attn.*", "-:.*shared_expert.*"), and so do the AWQ files of its mixtures: 22.84
/// and 23.36 GiB of Qwen3.5-35B-A3B, which would be 19.1.
bool quantises_mlp_alone(const Format& format, const Architecture& a) {
  if (a.linear.kind != "gated_deltanet") return false;
  return format.id == "gptq" || (format.id == "awq" && a.experts > 0);
}

/// NVFP4 files of mixtures leave latent attention (DeepSeek-R1, Kimi-K2) and linear attention in 16 bit, not what other
/// attention there is: of MiniMax-M2.5's 1.279 billion parameters in 16 bit 1.278 are tables and routers, GLM-4.7 takes
/// 47.1 GiB of each of four GPUs (ModelOpt, config.py, _default_disabled_quantizer_cfg: heads, routers, convolutions).
bool quantises_plain_attention(const Format& format, const Architecture& a) {
  return format.of_mixtures == Quantised::mlps && a.kv_lora_rank <= 0;
}

bool stays_wide(const Matrix& matrix, const Format& format, const Model& model) {
  if (!matrix.linear || matrix.part == Part::router || matrix.part == Part::norm || matrix.part == Part::bias)
    return true;
  if (matrix.part == Part::embedding || matrix.part == Part::head) return format.blocks_only;
  const WeightSection section = section_of(matrix);
  const bool mixture = model.architecture.experts > 0;
  if (quantises_mlp_alone(format, model.architecture))
    return section != (mixture ? WeightSection::experts : WeightSection::mlp);
  if (!mixture || format.of_mixtures == Quantised::linears) return false;
  if (quantises_plain_attention(format, model.architecture) && section == WeightSection::attention) return false;
  return section != WeightSection::experts &&
         (format.of_mixtures == Quantised::experts || section != WeightSection::mlp);
}

/// The plan's checkpoint is loaded as its config.json says that it is stored.
bool as_published(const Plan& plan) {
  return !plan.subject->architecture.quantization.empty() && plan.weights == plan.subject->architecture.quantization;
}

/// TensorRT-LLM's own int4 has one scale a column (--use_weight_only), not one a group, and is of every linear layer
/// but the head and routers (quantization/quantize.py, weight_only_quantize); of latent attention's models, of the
/// experts (NVIDIA/TensorRT-LLM#2683).
Format stored_format(const Plan& plan) {
  Format format = weights_format(plan);
  const Architecture& a = plan.subject->architecture;
  if (as_published(plan) && a.quantized_bits > 0) format.bits = a.quantized_bits;
  if (plan.engine != Engine::trtllm || format.id != "int4" || as_published(plan)) return format;
  format.bits = 4;
  if (a.kv_lora_rank == 0) format.of_mixtures = Quantised::linears;
  return format;
}

/// What the checkpoint leaves in 16 bit, where it is loaded as it is.
std::string halves(const Plan& plan) {
  const Architecture& a = plan.subject->architecture;
  return a.unquantized.empty() || !as_published(plan) ? "" : expand_pattern(a.unquantized, kStoredHalves);
}

bool replaces_attention(WeightSection section) {
  return section == WeightSection::attention || section == WeightSection::mixer;
}

}  // namespace

Checkpoint::Checkpoint(const Plan& plan)
    : model_(*plan.subject),
      format_(stored_format(plan)),
      gguf_(is_gguf(format_, plan.engine == Engine::llamacpp)),
      halves_(halves(plan)),
      published_(as_published(plan)) {}

/// Routers, norms and biases have no half: they are as they are everywhere.
Stored Checkpoint::stored(const Matrix& matrix, size_t layer) const {
  const StoredHalves halves = halves_of(halves_[layer % halves_.size()]);
  const WeightSection section = section_of(matrix);
  if (replaces_attention(section)) return halves.attention;
  return section == WeightSection::mlp || section == WeightSection::experts ? halves.mlp : Stored::as_format;
}

/// A list speaks of every linear layer, and knows better than the format's habit what it does not leave out.
double Checkpoint::bits(const Matrix& matrix, Stored stored) const {
  const Architecture& a = model_.architecture;
  const WeightSection section = section_of(matrix);
  const bool output = a.quantized_output && matrix.part == Part::o && section == WeightSection::attention;
  if (stored == Stored::sixteen_bit && !output) return 16;
  if (stored == Stored::eight_bit && matrix.linear) return 8;
  if (a.unquantized_shared && is_shared_expert(matrix.part)) return 16;
  const bool listed = replaces_attention(section) || section == WeightSection::mlp || section == WeightSection::experts;
  return listed && matrix.linear ? format_.bits : bits(matrix);
}

double Checkpoint::bits(const Matrix& matrix) const {
  if (!format_.blocks_only) return format_.bits;  // fp32, bf16, fp16: everything alike
  const double head = published_ ? model_.architecture.head_bits : 0;
  if (matrix.part == Part::head && matrix.linear && head > 0) return head;
  return stays_wide(matrix, format_, model_) ? 16 : format_.bits;
}

}  // namespace vram
