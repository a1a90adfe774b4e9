#include "engine/serving/runtime.h"

#include <algorithm>

#include "engine/hardware/context.h"
#include "engine/serving/llamacpp_buffer.h"
#include "engine/serving/vision_tower.h"
#include "engine/serving/vllm_run.h"
#include "engine/serving/weights.h"
#include "engine/units.h"

namespace vram {
namespace {

constexpr double kHalf = 2;  // bytes of a 16-bit activation

// Captured graphs a layer. Fitted on six logs of 28 to 61 layers: 0.49 (28), 0.60 (32), 0.65 (34), 0.72 GiB (40), up to
// 1.2 GiB (61).
constexpr double kGraphBytesALayer = 18.5 * kMiB;

// NCCL channels and the custom all-reduce's buffers where more than one GPU works together, beyond what one GPU takes:
// 0.06 to 0.2 GiB over PCIe (RTX 3090 and 4090, sglang and vllm); 0.2 over NVLink (2 V100, vllm#11251); 1.79 (2 H100,
// vllm#10511) and 2.2 GiB (4 B200, sglang) where its switches multicast.
constexpr double kCommunicationOverPcie = 0.125 * kGiB, kCommunicationOverLink = 0.25 * kGiB,
                 kCommunicationOverSwitch = 1.875 * kGiB;

/// NVLink SHARP: Hopper and later behind switches, not pairs under a bridge.
bool multicasts(const Accelerator& gpu) {
  const bool bridged = gpu.link_gpus > 0 && gpu.link_gpus <= 4;
  const std::string_view family = gpu.family;
  const bool sharp = family == "NVIDIA Hopper" || family.starts_with("NVIDIA Blackwell") || family == "NVIDIA Rubin";
  return sharp && !bridged;
}

double communication_bytes(const Accelerator& gpu) {
  if (gpu.link_is_pcie || gpu.link_gb_s <= 0) return kCommunicationOverPcie;
  return multicasts(gpu) ? kCommunicationOverSwitch : kCommunicationOverLink;
}

// What libraries allocate outside PyTorch while loading and profiling: 0.01 to 0.35 GiB in vllm's logs from 0.6.6 on.
// What the second model runner calls consumed is 0.26 to 1.15 GiB above what loading took: its sampler counts tokens.
constexpr double kNonTorchBytes = 0.1875 * kGiB;
// Triton's kernels of recurrent mixers are loaded with the rest: 0.47 to 0.56 GiB of Qwen3.5's shapes.
constexpr double kNonTorchRecurrentBytes = 0.5 * kGiB;

bool torch_engine(const Plan& plan) { return plan.engine != Engine::llamacpp; }

/// gate and up (2 ffn), their product (ffn), and three hidden states (the residual, what the caller still holds of the
/// layer before, and the mixer's): reproduces vllm's profile runs without chunked prefill to 0.5% (2.07 GiB at 20,000
/// and 2.99 GiB at 29,000 tokens of Llama-3.1-8B).
double dense_elements(const Ffn& ffn, double width, double hidden, double tp) {
  return (ffn.gated ? 3 : 2) * width / tp + 3 * hidden;
}

/// vllm fused_moe.py: intermediate_cache1 and 3 share memory, cache2 is the activation.
double moe_elements(const Ffn& ffn, double hidden, const Replica& replica) {
  const double width = ffn.expert_width / (replica.tp * replica.dp / std::min(replica.ep, replica.tp * replica.dp));
  const double routed = ffn.experts_per_token * (std::max((ffn.gated ? 2 : 1) * width, hidden) + width);
  return routed + dense_elements(ffn, ffn.shared_width, hidden, replica.tp);
}

/// `keeps_gate_up`: they are still there when the down projection's output is; `copies_input`: and a second of its
/// inputs.
double widest_layer_elements(const Model& model, const Replica& replica, bool keeps_gate_up, bool copies_input) {
  double most = 3 * model.architecture.hidden;
  for (const LayerKind& kind : model.kinds) {
    const double hidden = model.architecture.hidden;
    const double elements = kind.ffn.kind == FfnKind::moe
                                ? moe_elements(kind.ffn, hidden, replica)
                                : dense_elements(kind.ffn, kind.ffn.width, hidden, replica.tp) +
                                      (keeps_gate_up && kind.ffn.gated ? hidden : 0) +
                                      (copies_input && kind.ffn.gated ? kind.ffn.width / replica.tp : 0);
    most = std::max(most, elements);
  }
  return most;
}

Line layer_line(Sheet& sheet, const Plan& plan, const Replica& replica, double batch, double sequences,
                bool keeps_gate_up = false, bool copies_input = false) {
  const double tokens = std::min(batch, std::max(1.0, sequences * std::max(1.0, plan.max_len)));
  return sheet.leaf("activations", "Activations",
                    {times("T", tokens, "tokens of a batch"),
                     times("a", widest_layer_elements(*plan.subject, replica, keeps_gate_up, copies_input),
                           "elements of the widest layer"),
                     times("", kHalf, "B")},
                    "gate, up, product and hidden states of the widest layer; fitted on vllm profile runs", 0.3);
}

/// The larger of a full batch through the widest layer and of sampling for every sequence.
Line language_model_line(Sheet& sheet, const Plan& plan, const Replica& replica, const ServingStage& stage) {
  const VllmRun run = vllm_run(plan);
  Line layer = layer_line(sheet, plan, replica, run.tokens, run.sequences, run.keeps_gate_up, run.copies_input);
  if (!stage.has_head) return layer;
  Line logits =
      sheet.leaf("logits", "Sampler",
                 {times("n", std::min(run.sequences, run.tokens), "sequences"),
                  times("V", plan.subject->architecture.vocab, "logits"), times("", run.bytes_a_logit, "B a logit")},
                 "the sampler's copies of the logits, not divided by tp; vllm start-up logs and vllm#32558", 0.3);
  LineList children(sheet);
  children.push_back(logits);
  if (run.samples) {
    children.push_back(sheet.leaf("hidden", "Hidden states of a batch",
                                  {times("T", run.tokens, "tokens of a batch"),
                                   times("h", plan.subject->architecture.hidden, "hidden size"), times("", kHalf, "B")},
                                  "what is sampled came from them (vllm v1/worker/gpu_model_runner.py, profile_run)",
                                  0.3));
  }
  Line sampler = sheet.group("activations", "Activations", children);
  return sampler.bytes > layer.bytes ? sampler : layer;
}

/// What lies on a GPU where vllm's profile run is fullest.
struct ProfileRun {
  Line activations;
  Line cached;  // of a vision tower's outputs, beside them
};

/// The vision tower, then the language model, beside what the second engine keeps of the tower's outputs.
ProfileRun vllm_profile(Sheet& sheet, const Plan& plan, const Replica& replica, const ServingStage& stage) {
  const Line text = language_model_line(sheet, plan, replica, stage);
  const Line none = nothing(sheet, "encoder_cache", "Encoder cache");
  const Architecture& a = plan.subject->architecture;
  const bool sees = stage.has_outside && (a.has_vision || a.extra_params > 0);
  const TowerRun tower = sees ? tower_run(plan, replica) : TowerRun{};
  if (tower.images <= 0) return {text, none};
  const Line cached = vllm_run(plan).caches_encoder ? encoder_cache_line(sheet, plan, tower) : none;
  const Line images = tower_line(sheet, tower);
  if (images.bytes <= text.bytes + cached.bytes) return {text, cached};
  return {sheet.group("activations", "Activations", {images}), none};
}

/// TensorRT-LLM holds logits of every slot in fp32 beside a full batch; its C++ runtime (before 1.0) a workspace of
/// top-p besides, sorted probabilities and ids of the whole vocabulary and their copies (layers/topPSamplingLayer.cu).
Line trtllm_activations(Sheet& sheet, const Plan& plan, const Replica& replica, const ServingStage& stage) {
  Line layer = layer_line(sheet, plan, replica, plan.batch_tokens, plan.max_seqs);
  if (!stage.has_head) return layer;
  const double bytes = plan.engine_version.starts_with("0") ? 20 : 4;
  layer.id = "layer";
  layer.label = "A batch through the widest layer";
  Line logits = sheet.leaf("logits", "Logits of every slot",
                           {times("n", plan.max_seqs, "sequences"),
                            times("V", plan.subject->architecture.vocab, "logits"), times("", bytes, "B a logit")},
                           "fp32 logits; before 1.0 with the workspace of top-p", 0.5);
  return sheet.group("activations", "Activations", {layer, logits});
}

Line activations_line(Sheet& sheet, const Plan& plan, const Replica& replica, const ServingStage& stage) {
  if (plan.engine == Engine::llamacpp) return llamacpp_compute_line(sheet, plan, replica, stage);
  if (plan.engine == Engine::trtllm) return trtllm_activations(sheet, plan, replica, stage);
  return layer_line(sheet, plan, replica, plan.batch_tokens, plan.max_seqs);
}

/// A built engine's are captured where it is told to (TensorRT-LLM 0.16, executor.h, ExtendedRuntimePerfKnobConfig:
/// cudaGraphMode is false).
Line graphs_line(Sheet& sheet, const Plan& plan, const ServingStage& stage) {
  const bool unasked = builds_engines(plan) && !plan.has(Key::graphs);
  if (!plan.graphs || !torch_engine(plan) || unasked) return nothing(sheet, "graphs", "CUDA graphs");
  return sheet.leaf("graphs", "CUDA graphs",
                    {times("L", static_cast<double>(stage.count), "layers"), times("", kGraphBytesALayer, "B a layer")},
                    "fitted on start-up logs of vllm and sglang, 28 to 61 layers", 0.5);
}

/// v1/worker/gpu/sample/penalties.py, PenaltiesState: how often each request put out each token, and a bit for each
/// token of its prompt.
Line sampler_counts_line(Sheet& sheet, const Plan& plan) {
  return sheet.leaf("sampler_counts", "Token counts of the sampler",
                    {times("n", plan.max_seqs, "requests"), times("V", plan.subject->architecture.vocab, "tokens"),
                     times("", 4.125, "B")},
                    "vllm v1/worker/gpu/sample/penalties.py, PenaltiesState", 0.1);
}

Line buffers_line(Sheet& sheet, const Plan& plan, const Replica& replica, bool samples, const Line& cached) {
  LineList children(sheet);
  if (plan.engine == Engine::sglang && plan.max_len > 0) {
    children.push_back(
        sheet.leaf("request_table", "Request to token table",
                   {times("n", plan.max_seqs, "requests"), times("s", plan.max_len, "tokens"), times("", 4, "B")},
                   "sglang memory_pool.py, ReqToTokenPool", 0.01));
  }
  if (plan.engine == Engine::vllm) {
    const bool recurrent = !plan.subject->architecture.linear.kind.empty();
    const double bytes = recurrent ? kNonTorchRecurrentBytes : kNonTorchBytes;
    children.push_back(sheet.leaf("non_torch", "Outside PyTorch", {times("", bytes, "B")},
                                  "non-torch memory of vllm start-up logs, 0.01 to 0.35 GiB; of recurrent mixers more",
                                  0.8));
    if (samples && vllm_run(plan).second_runner) children.push_back(sampler_counts_line(sheet, plan));
  }
  if (cached.bytes > 0) children.push_back(cached);
  if (replica.tp * replica.dp * replica.pp > 1 && torch_engine(plan)) {
    children.push_back(sheet.leaf("communication", "Communication",
                                  {times("", communication_bytes(*plan.accelerator), "B")},
                                  "NCCL channels and all-reduce buffers", 1));
  }
  return children.empty() ? nothing(sheet, "buffers", "Buffers") : sheet.group("buffers", "Buffers", children);
}

Line context_line(Sheet& sheet, const Plan& plan) {
  return sheet.leaf("context", "CUDA context", {times("", context_bytes(*plan.accelerator), "B")},
                    "total - free before loading, of vllm start-up logs", 0.3);
}

}  // namespace

RuntimeLines runtime_lines(Sheet& sheet, const Plan& plan, const Replica& replica, const ServingStage& stage) {
  const ProfileRun run = plan.engine == Engine::vllm ? vllm_profile(sheet, plan, replica, stage)
                                                     : ProfileRun{activations_line(sheet, plan, replica, stage),
                                                                  nothing(sheet, "encoder_cache", "Encoder cache")};
  return {run.activations, graphs_line(sheet, plan, stage),
          buffers_line(sheet, plan, replica, stage.has_head, run.cached), context_line(sheet, plan)};
}

}  // namespace vram
