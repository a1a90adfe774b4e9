#include "engine/serving/weights.h"

#include <utility>

#include "engine/formats.h"
#include "engine/serving/rotary_tables.h"
#include "engine/serving/vllm_run.h"
#include "engine/serving/weight_collector.h"

namespace vram {
namespace {

/// vllm cuts a tower's matrices like the others (config/multimodal.py, mm_encoder_tp_mode "weights"), and so does
/// sglang (srt/models/qwen3_vl.py, Qwen3_VisionMLP; srt/layers/attention/vision.py), but for Kimi's MoonViT
/// (srt/models/ kimi_vl_moonvit.py). llama.cpp's is a file of its own, TensorRT-LLM's an engine of its own.
void add_outside(const Plan& plan, const Replica& replica, WeightCollector& out) {
  const Model& model = *plan.subject;
  const WeightSection outside = WeightSection::outside;
  out.add(model.outside, 1, 1, &outside);
  const bool vllm = plan.engine == Engine::vllm, serves = vllm || plan.engine == Engine::sglang;
  if (!serves || model.architecture.extra_params > 0) return;
  const bool cut = vllm || model.architecture.model_type.find("kimi") == std::string::npos;
  out.put({outside, model.architecture.tower, 16, cut ? replica.tp : 1});
}

void add_ends(const Plan& plan, const Replica& replica, const ServingStage& stage, WeightCollector& out) {
  const Model& model = *plan.subject;
  if (stage.has_embedding) out.add(model.embedding, 1, 1);
  if (stage.has_outside) add_outside(plan, replica, out);
  if (!stage.has_head) return;
  out.add(model.head, 1, 1);
  // Built engines hold a tied head as a copy and the table whole on every rank, where --use_embedding_sharing and
  // --use_parallel_embedding do not say otherwise (examples/*/convert_checkpoint.py).
  const bool apart = !stage.has_embedding || builds_engines(plan);
  if (!model.architecture.tied || !apart) return;
  for (Matrix table : model.embedding) {  // a tied head away from its table is a copy of it
    if (table.part != Part::embedding) continue;
    table.part = Part::head;
    out.add({table}, 1, 1);
  }
}

/// EAGLE's draft is a decoder layer like the model's own and a projection of two hidden states to one; prediction
/// modules are listed by the model.
void add_draft(const Plan& plan, WeightCollector& out) {
  const Model& model = *plan.subject;
  const WeightSection draft = WeightSection::draft;
  if (plan.draft_layers > 0 && !model.layers.empty()) {
    out.add(model.layer(model.layers.size() - 1), plan.draft_layers, &draft);
    const double hidden = model.architecture.hidden;
    out.add({{"fc", Part::other, Shard::replicated, hidden, 2 * hidden}}, 1, 1, &draft);
  } else {
    for (const LayerKind& kind : model.mtp) out.add(kind, 1, &draft);
  }
}

/// Latent attention's kv_b is absorbed into query and output: sglang keeps it transposed beside the weight
/// (deepseek_weight_loader.py, post_load_weights: w_kc, w_vc), vllm a 16-bit copy of what is quantised (mla/common.py,
/// process_weights_after_loading).
void add_absorbed(const Plan& plan, const Replica& replica, const LayerKind& kind, double layers,
                  WeightCollector& out) {
  const Attention& a = kind.attention;
  const Format& format = weights_format(plan);
  const bool mixture = plan.subject->architecture.experts > 0;
  const bool wide = format.bits >= 16 || (mixture && format.of_mixtures != Quantised::linears);
  const bool copies = plan.engine == Engine::sglang || (plan.engine == Engine::vllm && !wide);
  if (a.kv_lora_rank <= 0 || !copies) return;
  const double elements = a.heads * (a.nope_head_dim + a.v_head_dim) * a.kv_lora_rank;
  out.put({WeightSection::absorbed, elements * layers, 16, replica.tp});
}

// vllm's first releases with latents keep whole products of kv_b for decoding: with the query's projection, whose
// rotary part stands apart, and with the output's, in FP8 where the checkpoint is (attention/backends/mla/utils.py,
// process_weights_after_loading: W_Q_UK, W_QR, W_UV_O). 10.45 GiB of DeepSeek-Coder-V2-Lite in AWQ.
constexpr double kAbsorbsProjectionsSince = 7001, kAbsorbsProjectionsUntil = 8e3;

bool absorbs_projections(const Plan& plan) {
  const double release = release_number(plan);
  return plan.engine == Engine::vllm && release >= kAbsorbsProjectionsSince && release < kAbsorbsProjectionsUntil;
}

void add_absorbed_projections(const Plan& plan, const Replica& replica, const LayerKind& kind, double layers,
                              WeightCollector& out) {
  const Attention& a = kind.attention;
  if (a.kv_lora_rank <= 0) return;
  const double hidden = plan.subject->architecture.hidden, in = a.q_lora_rank > 0 ? a.q_lora_rank : hidden;
  const double elements = a.heads * (in * (a.kv_lora_rank + a.rope_head_dim) + a.kv_lora_rank * hidden);
  out.put({WeightSection::absorbed, elements * layers, plan.weights == "fp8" ? 8.0 : 16.0, replica.tp});
}

bool indexes_groups(const Plan& plan) {
  return plan.engine == Engine::sglang && plan.accelerator->vendor == "AMD" && weights_format(plan).id == "int4";
}

/// On AMD sglang's experts in groups of 4 bits keep the indices of their groups and of their order, 32 bits an input,
/// which Marlin's conversion frees (compressed_tensors_wNa16_moe.py, CompressedTensorsWNA16TritonMoE).
void add_group_indices(const Plan& plan, const Replica& replica, const LayerKind& kind, double layers,
                       WeightCollector& out) {
  if (kind.ffn.kind != FfnKind::moe) return;
  const double inputs = plan.subject->architecture.hidden + kind.ffn.expert_width / replica.tp;
  out.put({WeightSection::group_indices, 2 * inputs * kind.ffn.experts * layers, 32, replica.ep});
}

}  // namespace

bool builds_engines(const Plan& plan) { return plan.engine == Engine::trtllm && plan.engine_version.starts_with("0."); }

const Format& weights_format(const Plan& plan) {
  const Format* format = find_format(plan.weights);
  return format != nullptr ? *format : *find_format("bf16");
}

const Format& kv_format(const Plan& plan) {
  const Format* format = find_format(plan.kv);
  return format != nullptr ? *format : *find_format("bf16");
}

bool stores_values_apart(const Plan& plan) {
  return plan.engine == Engine::llamacpp || plan.engine == Engine::generic || plan.engine == Engine::static_;
}

const Format& kv_values_format(const Plan& plan) {
  const Format* format = stores_values_apart(plan) ? find_format(plan.kv_values) : nullptr;
  return format != nullptr ? *format : kv_format(plan);
}

std::vector<WeightParcel> weight_parcels(const Plan& plan, const Replica& replica, const ServingStage& stage) {
  const Model& model = *plan.subject;
  WeightCollector out(plan, replica, stage);
  if (!model.has_shape) {
    out.put({WeightSection::block, model.nominal_parameters, weights_format(plan).bits, replica.tp * replica.pp});
    return out.take();
  }
  add_ends(plan, replica, stage, out);
  for (size_t k = 0; k < model.kinds.size(); ++k) {
    out.add_layers(k);
    if (stage.more_experts > 0) out.add_more_experts(k);
    const double layers = model.layers_of_kind(k, stage.first, stage.count);
    add_absorbed(plan, replica, model.kinds[k], layers, out);
    if (absorbs_projections(plan)) add_absorbed_projections(plan, replica, model.kinds[k], layers, out);
    if (indexes_groups(plan)) add_group_indices(plan, replica, model.kinds[k], layers, out);
  }
  if (stage.has_head && (plan.draft_layers > 0 || plan.draft_tokens > 0)) add_draft(plan, out);
  out.put(rotary_tables(plan));
  return out.take();
}

}  // namespace vram
