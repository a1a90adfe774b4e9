#include <algorithm>

#include "engine/training/linear_inputs.h"
#include "engine/training/lora.h"
#include "engine/training/prompts.h"
#include "engine/training/saved_tensors.h"

namespace vram {
namespace {

constexpr const char* kNote =
    "an adapted linear keeps its input for A's gradient; fp32 adapters cast it each for themselves, dropout keeps a "
    "dropped copy and a mask each (measured on peft's layers)";

/// Adapted matrices that read one input, and what they read.
struct Reader {
  const char* id;
  const char* label;
  const char* symbol;
  double width = 0;    // of the input
  double adapted = 0;  // matrices that read it
  double split = 1;
  bool kept = false;  // the input is saved anyway
};

/// Bytes an input element: shared by its readers, or one copy each.
double input_bytes(const Plan& plan, const LayerSetting& s, const Reader& reader) {
  if (s.adapters_fp32) return reader.adapted * (plan.dropout ? 4 + 1 : 4);
  if (plan.dropout) return reader.adapted * (s.e + 1);
  return reader.kept ? 0 : s.e;
}

/// litgpt adapts q, k and v as one linear. Where not all three are adapted, their adapters' outputs are spread into a
/// wider tensor by index_copy, whose backward asks for them (litgpt, lora.py, LoRAQKVLinear.zero_pad).
void save_spread_outputs(const Plan& plan, const LayerSetting& s, const LayerKind& kind, SavedTensors& out) {
  double width = 0;
  bool all = true;
  for (const Matrix& m : kind.matrices) {
    if (!m.linear || (m.part != Part::q && m.part != Part::k && m.part != Part::v)) continue;
    const bool adapted = is_adapted(plan.lora_targets, m);
    if (adapted) width += m.rows * m.copies;
    all &= adapted;
  }
  if (width > 0 && !all)
    out.push_back({"spread_outputs", "Outputs of QKV adapters", Area::adapters, "q + v", "output widths", width, s.e, 1,
                   "litgpt, lora.py, LoRAQKVLinear.zero_pad"});
}

/// Attention over the prompts keeps its output and log-sum-exp, for the gate's gradient too; where a frozen projection
/// keeps its input, that is now a tensor of its own: the sum of both attentions (litgpt, adapter.py).
void save_prompts(const LayerSetting& s, const LayerKind& kind, SavedTensors& out) {
  constexpr const char* kPrompts =
      "litgpt, adapter.py, CausalSelfAttention: attention over the prompts, times its gate";
  const Attention& t = kind.attention;
  out.push_back({"prompt_output", "Attention over the prompts", Area::adapters, "a d", "output width",
                 t.heads * t.v_head_dim, s.keeps_inputs ? 2 * s.e : s.e, s.tp, kPrompts});
  out.push_back(
      {"prompt_lse", "Log-sum-exp over the prompts", Area::adapters, "a", "heads", t.heads, 4, s.tp, kPrompts});
}

/// What a scale multiplies is kept for its gradient.
void save_scaled_outputs(const LayerSetting& s, const LayerKind& kind, SavedTensors& out) {
  const MatmulOutputs outputs = matmul_outputs(kind);
  constexpr const char* kScales = "litgpt, adapter_v2.py, AdapterV2Linear: scale × (product + bias)";
  out.push_back({"scaled_outputs", "Outputs before their scale", Area::adapters, "Σ",
                 "outputs of column-parallel linears", outputs.cut, s.e, s.tp, kScales});
  out.push_back({"scaled_outputs_whole", "Outputs before their scale, row-parallel", Area::adapters, "Σ",
                 "outputs of row-parallel linears", outputs.whole, s.e, s.sp, kScales});
}

/// The inputs of adapted linears.
void save_inputs(const Plan& plan, const LayerSetting& s, const LayerKind& kind, SavedTensors& out) {
  Reader readers[kLinearInputs] = {
      {"attention_input", "QKV input", "h"},     {"projection_input", "Output projection's input", "a d"},
      {"mlp_input", "MLP input", "h"},           {"down_input", "Down projection's input", "f"},
      {"expert_input", "Experts' input", "K h"}, {"expert_down_input", "Experts' down input", "K m"}};
  for (const Matrix& m : kind.matrices) {
    if (!is_adapted(plan.lora_targets, m)) continue;
    Reader& reader = readers[static_cast<size_t>(input_of(m))];
    reader.width = std::max(reader.width, input_width(m, kind));
    reader.adapted += 1;
  }
  for (size_t i = 0; i < kLinearInputs; ++i) {
    Reader& reader = readers[i];
    if (reader.adapted == 0) continue;
    const LinearInput input = static_cast<LinearInput>(i);
    const bool stream = input == LinearInput::attention || input == LinearInput::mlp;
    if (input == LinearInput::attention && plan.library == Library::litgpt) reader.adapted = 1;
    if (s.adapters_in_place && (input == LinearInput::down || input == LinearInput::expert_down)) continue;
    reader.kept = input == LinearInput::projection || s.keeps_inputs;
    reader.split = stream ? 1 : s.tp;  // A reads the sequence gathered (Megatron-Bridge, peft/lora_layers.py)
    const double bytes = input_bytes(plan, s, reader);
    if (bytes > 0)
      out.push_back({reader.id, reader.label, Area::adapters, reader.symbol, "input width", reader.width, bytes,
                     reader.split, kNote});
  }
}

/// What stands between A and B of each.
void save_low_ranks(const Plan& plan, const LayerSetting& s, const LayerKind& kind, SavedTensors& out) {
  double ranks = 0;
  for (const Matrix& m : kind.matrices) {
    if (is_adapted(plan.lora_targets, m)) ranks += m.shard == Shard::expert ? kind.ffn.experts_per_token : m.copies;
  }
  if (ranks > 0 && !s.adapters_in_place)
    out.push_back({"low_rank", "Between A and B", Area::adapters, "r", "elements between A and B",
                   plan.lora_rank * ranks, s.adapters_fp32 ? 4 : s.e, 1, kNote});
}

}  // namespace

void save_adapters(const Plan& plan, const LayerSetting& s, const LayerKind& kind, SavedTensors& out) {
  if (s.trained) return;
  if (trains_prompts(plan)) save_prompts(s, kind, out);
  if (plan.method == Method::adapter_v2) save_scaled_outputs(s, kind, out);
  if (trains_prompts(plan)) return;
  save_inputs(plan, s, kind, out);
  save_low_ranks(plan, s, kind, out);
  if (plan.library == Library::litgpt) save_spread_outputs(plan, s, kind, out);
}

}  // namespace vram
