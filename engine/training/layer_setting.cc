#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "engine/plan/texts.h"
#include "engine/training/linear_inputs.h"
#include "engine/training/prompts.h"
#include "engine/training/saved_tensors.h"
#include "engine/training/storage.h"

namespace vram {
namespace {

/// Norms that k-bit preparation upcasts make the stream fp32, but not where the wrapper casts every parameter to its
/// own precision: FSDP's MixedPrecision and DeepSpeed's engine. A stream asked for by name is as asked for.
double residual_bytes(const Plan& plan) {
  if (compute_bytes(plan) == 4 || runs_autocast(plan)) return 4;
  if (plan.residual != Residual::fp32) return 2;
  return plan.framework == Framework::ddp || plan.has(Key::residual) ? 4 : 2;
}

/// bitsandbytes before 0.43.2 keeps the input of a 4-bit linear though its weight has no gradient
/// (autograd/_functions.py, MatMul4Bit: ctx.tensors = (A, B)); litgpt pins 0.42.
bool keeps_frozen_inputs(const Plan& plan) { return plan.library == Library::litgpt && plan.base == Base::nf4; }

/// One projection gives q, k and v, and q and k are rotated out of it.
bool keeps_qkv(const Plan& plan) {
  const Architecture& a = plan.subject->architecture;
  if (plan.attention == AttentionKernel::eager || a.position != "rope") return false;
  if (plan.library == Library::megatron || plan.library == Library::litgpt) return true;
  return plan.library == Library::hf && (a.model_type == "gpt_neox" || a.model_type == "phi3");
}

/// Tensors an activation keeps, input and output included: one kernel keeps two (ReLU its output only); GELUs composed
/// of elementary operations keep every step (transformers, activations.py; measured on PyTorch 2.6).
double activation_widths(const Architecture& a) {
  const std::string_view name = a.hidden_act;
  if (a.swiglu_limit > 0) return 5;  // both halves of gate_up, clamped gate, sigmoid and their product (models/gpt_oss)
  if (name == "relu") return 1;
  if (name == "gelu_new") return 5;
  if (name == "gelu_fast") return 8;
  if (name == "quick_gelu") return 3;
  return 2;
}

void set_recompute(const Plan& plan, LayerSetting& s) {
  if (plan.recompute != Recompute::selective) return;
  const std::string_view modules = plan.recompute_modules;
  s.recompute_core = modules.empty() || lists(modules, "core_attn");
  s.recompute_mlp = lists(modules, "mlp");
  s.recompute_norms = lists(modules, "layernorm");
  s.recompute_moe = lists(modules, "moe");
  s.recompute_product = lists(modules, "moe_act");
  s.recompute_latent = lists(modules, "mla_up_proj");
  s.recompute_shared = lists(modules, "shared_experts");
}

/// litgpt copies grouped keys and values for every head (litgpt, model.py), and so do transformers' larger Falcons
/// (models/falcon, _split_heads with new_decoder_architecture).
bool repeats_kv(const Plan& plan, const Attention& t) {
  if (t.kv_heads == t.heads) return false;
  const bool falcon = plan.library == Library::hf && plan.subject->architecture.model_type == "falcon";
  return plan.library == Library::litgpt || (falcon && t.kv_heads > 1);
}

/// A norm that multiplies by its weight in fp32 and casts what comes out.
bool multiplies_in_fp32(const Plan& plan) {
  const std::string_view type = plan.subject->architecture.model_type;
  return plan.library == Library::litgpt || type.starts_with("gemma") || type.starts_with("olmo2") || type == "gpt_oss";
}

/// Inputs of the layer's linears, elements a token, each once.
double distinct_inputs(const LayerSetting& s, const LayerKind& kind) {
  std::array<double, kLinearInputs> widths{};
  for (const Matrix& m : kind.matrices) {
    if (!m.linear) continue;
    double& width = widths[static_cast<size_t>(input_of(m))];
    width = std::max(width, input_width(m, kind));
  }
  if (s.one_norm) widths[static_cast<size_t>(LinearInput::mlp)] = 0;
  return std::accumulate(widths.begin(), widths.end(), 0.0);
}

}  // namespace

SavedTensors outliving_tensors(const Plan& plan, const LayerSetting& s, const LayerKind& kind) {
  if (!keeps_frozen_inputs(plan) || plan.longest_first || plan.recompute != Recompute::none) return {};
  // ctx.tensors is no saved tensor: backward does not free it, the graph does, which hangs on the loss.
  return {{"previous", "Inputs that the step before holds", Area::adapters, "Σ", "inputs of the layer's linears",
           distinct_inputs(s, kind), s.e, 1, "bitsandbytes 0.42, autograd/_functions.py, MatMul4Bit: ctx.tensors"}};
}

double eager_norm_bytes(const LayerSetting& s) {
  const double input = 4;  // the fp32 copy, or the fp32 stream itself
  if (s.centred_in_fp32) return input + (s.trained_norms ? 8 : 4);
  if (!s.trained_norms) return input;  // the product with a frozen weight keeps nothing
  if (s.fp32_product) return input + 4;
  return input + (s.casts_inputs ? 4 : s.e);
}

LayerSetting layer_setting(const Plan& plan, const LayerKind& kind) {
  const Architecture& a = plan.subject->architecture;
  LayerSetting s;
  s.h = a.hidden;
  s.e = compute_bytes(plan);
  s.residual = residual_bytes(plan);
  s.linear_input = computes_quantised(plan) ? quantised_bytes(plan.precision) : s.e;
  s.tp = plan.tp;
  s.sp = plan.sp ? plan.tp : 1;
  // Megatron gathers a linear's input again in backward; DTensor's PrepareModuleInput keeps the gathered one
  // (torchtitan, models/llama3/parallelize.py; Megatron-LM, core/tensor_parallel/layers.py).
  s.input_split = plan.library == Library::torchtitan ? 1 : s.sp;
  s.megatron = plan.library == Library::megatron;
  s.centred_in_fp32 =
      plan.library == Library::hf && a.model_type.starts_with("cohere") && plan.kernels == Kernels::eager;
  s.layernorm = a.norm != "rmsnorm" && !s.centred_in_fp32;
  // torch.compile fuses a norm as the kernels do (an assumption, halfway between eager and fused layers).
  s.fused_norm = plan.kernels == Kernels::fused || plan.compile || plan.library == Library::unsloth || s.layernorm;
  s.fused_mlp = plan.kernels == Kernels::fused || plan.library == Library::unsloth;
  s.fp32_product = multiplies_in_fp32(plan);
  s.repeats_kv = repeats_kv(plan, kind.attention);
  s.keeps_qkv = keeps_qkv(plan) && !s.repeats_kv;
  s.one_norm = a.parallel_residual && kind.norms == 1;
  s.activation_widths = s.fused_mlp || plan.library != Library::hf ? 2 : activation_widths(a);
  s.casts_inputs = s.e == 2 && s.residual == 4;
  s.trained = trains_all(plan);
  s.trained_norms = s.trained || plan.method == Method::adapter_v2;
  s.keeps_inputs = s.trained || keeps_frozen_inputs(plan);
  s.adapters_in_place = plan.library == Library::unsloth && !s.trained && !trains_prompts(plan) && !plan.dropout;
  s.adapters_fp32 = !s.trained && adapter_storage(plan).weight == 32 && s.e == 2 && !s.adapters_in_place;
  s.eager = plan.attention == AttentionKernel::eager;
  set_recompute(plan, s);
  return s;
}

}  // namespace vram
