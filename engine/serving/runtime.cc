#include "engine/serving/runtime.h"

#include <algorithm>

#include "engine/hardware/context.h"
#include "engine/serving/kv_cache.h"
#include "engine/serving/llamacpp.h"
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

/// vllm's profile run: the larger of a full batch through the widest layer and of sampling for every sequence.
Line vllm_activations(Sheet& sheet, const Plan& plan, const Replica& replica, const ServingStage& stage) {
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

/// Tokens that one slot sees: all of a unified cache.
double llamacpp_context(const Plan& plan) {
  return std::max(1.0, (plan.unified ? plan.concurrency : 1) * request_tokens(plan));
}

/// Elements a token beside scores and mask: the stream and the normed copy of it, queries and what attention puts out;
/// where query, key and value are one tensor, that too, and where one projection puts out queries and gates, both and a
/// copy of the gates (654.8 MiB of Qwen3.5-27B's shape with 200,192 cells). One buffer held three copies of the stream.
double token_elements(const Plan& plan) {
  const Architecture& a = plan.subject->architecture;
  if (llamacpp_build(plan.engine_version).one_buffer) return 3 * a.hidden;
  const bool latent = a.kv_lora_rank > 0;
  const double own = a.head_dim > 0 ? a.head_dim : a.hidden / std::max(1.0, a.heads);
  const double head = latent ? a.nope_head_dim + a.rope_head_dim : own;
  const double fused = fuses_qkv(a) ? 2 * std::max(1.0, a.kv_heads) * head : 0;
  return 2 * a.hidden + (a.output_gate ? 4 : 2) * a.heads * head + fused;
}

constexpr double kInputCopies = 4;

/// GPUs that take turns hold four copies of what enters a graph, mask and hidden state, and so does the host of the
/// masks (ggml-backend.cpp, GGML_SCHED_MAX_COPIES; llama.cpp#6017, b2400); not where tensors are overridden
/// (llama-context.cpp, pipeline_parallel).
bool copies_inputs(const Plan& plan, const Replica& replica) {
  const bool all = plan.gpu_layers >= static_cast<double>(plan.subject->layers.size()) && plan.n_cpu_moe < 1;
  return replica.pp > 1 && all && !llamacpp_build(plan.engine_version).one_buffer;
}

Line compute_buffer(Sheet& sheet, const Plan& plan, double elements, const char* what, const char* note) {
  return sheet.leaf("activations", "Compute buffer",
                    {times("u", plan.ubatch, "tokens of a micro-batch"), times("", 4, "B"), times("a", elements, what)},
                    note, 0.1);
}

/// The widest MLP. Of a dense layer gate, up and, since they are fused, their product, and two copies of the stream:
/// 73.00 MiB of a 7B with 512 cells (early 2024), 135.07 of LFM2.5-2.6B with 65536 in 16 bit (late 2026). Of experts
/// what enters and leaves the last product, of every one that a token goes to, and three copies (llama-graph.cpp,
/// build_moe_ffn): 712.08 MiB of Qwen3-Coder-30B on two GPUs.
double mlp_elements(const Plan& plan, const LlamacppBuild& build) {
  const double hidden = plan.subject->architecture.hidden;
  double widest = 0;
  for (const LayerKind& kind : plan.subject->kinds) {
    const Ffn& ffn = kind.ffn;
    if (ffn.kind == FfnKind::dense && ffn.gated && ffn.width > 0)
      widest = std::max(widest, (build.fuses_gate ? 3 : 2) * ffn.width + 2 * hidden);
    if (ffn.kind == FfnKind::moe)
      widest = std::max(widest, ffn.experts_per_token * (ffn.expert_width + hidden) + 3 * hidden);
  }
  return widest;
}

/// Without flash attention values are cached transposed, and a row of a cache is one element of a token: an index of 64
/// bits each (llama-kv-cache.cpp, build_input_v_idxs). 4 MiB of 1024 values and a micro-batch of 512.
double index_elements(const Plan& plan, const LlamacppBuild& build) {
  const Architecture& a = plan.subject->architecture;
  if (plan.flash || !build.sets_rows || a.kv_lora_rank > 0) return 0;
  double values = 0;
  for (const LayerKind& kind : plan.subject->kinds)
    values = std::max(values, kind.attention.kv_heads * kind.attention.v_head_dim);
  return 2 * values * (keeps_windows(*plan.subject) ? 2 : 1);
}

/// What attention's inputs hold of a token, masks and indices, of full and window layers together.
struct Masks {
  double given = 0;  // as they enter the graph: in 16 bit later builds' with flash attention
  double cast = 0;   // what earlier ones cast them to (llama-graph.cpp, self_kq_mask_cnv); the one of four that is read
};

Masks masks_of(const Plan& plan, const LlamacppBuild& build, bool copies) {
  const double cells = llamacpp_context(plan) + llamacpp_window_cells(plan);
  if (!plan.flash) return {cells + index_elements(plan, build), 0};
  return build.masks_in_half ? Masks{cells / 2, copies ? cells / 2 : 0} : Masks{cells, cells / 2};
}

/// A head that stays in host memory is copied to the first GPU, which works it out for large batches (ggml-cuda.cu,
/// ggml_backend_cuda_device_offload_op: from 32 tokens on). 173.04 MiB of a 7B in Q5_K_M, 137.79 with micro-batches of
/// 256, 669.48 of an 8B with 128256 logits.
double copied_head_bytes(const Plan& plan, const ServingStage& stage, const LlamacppBuild& build) {
  if (!host_stage(plan).has_head || !stage.has_outside || !build.copies_weights || plan.ubatch < 32) return 0;
  double bytes = 0;
  for (const WeightParcel& parcel : weight_parcels(plan, Replica{}, {0, 0, false, true, false})) {
    if (parcel.section == WeightSection::head) bytes += parcel.elements * parcel.bits / 8;
  }
  return bytes;
}

/// Experts in host memory are copied, a tensor at a time, to the first GPU, which works them out for large batches
/// (ggml-backend.cpp, ggml_backend_sched_backend_id_from_cur; ggml-cuda.cu, offload_op: from 32 tokens on).
double copied_experts_bytes(const Plan& plan, const ServingStage& stage, const LlamacppBuild& build) {
  const bool copies = stage.has_outside && build.copies_weights && plan.ubatch >= 32;
  return copies && host_stage(plan).more_experts > 0 ? largest_host_experts_bytes(plan) : 0;
}

bool begins_with_window(const Model& model) {
  return keeps_windows(model) && model.kinds[model.layers.front()].mixer == Mixer::sliding;
}

bool has_shared_experts(const Model& model) {
  for (const LayerKind& kind : model.kinds) {
    if (kind.ffn.shared_width > 0) return true;
  }
  return false;
}

/// What lies beside that copy, of a token. ggml-alloc.c lays it into what the mask left when it was cast to 16 bit,
/// where it fits; else behind all that attention held, the mask of latent attention being cast before there are
/// queries. A model that begins with a window layer copies experts before its full mask is cast. Read off llama.cpp's
/// own graphs of five shapes, reserved on a device that computes nothing (b6700 and b10256, whose masks are never cast
/// and which keeps one more copy of the stream, and what shared experts say): 3% off with batches of 512 tokens, with
/// larger ones up to 14%.
double beside_copied_experts(const Plan& plan, const LlamacppBuild& build, const Masks& masks, double copied) {
  const Architecture& a = plan.subject->architecture;
  const double mlp = mlp_elements(plan, build), more = a.hidden * (has_shared_experts(*plan.subject) ? 2 : 1);
  if (masks.cast <= 0) return mlp + masks.given + (build.masks_in_half ? more : 0);
  if (masks.given <= mlp) return mlp + masks.cast + masks.given;
  const double beside = begins_with_window(*plan.subject) ? mlp + masks.given : mlp + masks.cast;
  if (copied <= plan.ubatch * 4 * masks.given) return begins_with_window(*plan.subject) ? beside : 0;
  return std::max(beside, masks.given + masks.cast + (a.kv_lora_rank > 0 ? a.hidden : token_elements(plan)));
}

/// Nothing where no experts are copied, or where the copy fits into what is there anyway.
Line copied_experts_line(Sheet& sheet, const Plan& plan, const ServingStage& stage, const LlamacppBuild& build,
                         const Masks& masks) {
  const double copied = copied_experts_bytes(plan, stage, build);
  const double beside = copied > 0 ? beside_copied_experts(plan, build, masks, copied) : 0;
  if (beside <= 0) return nothing(sheet, "activations", "Compute buffer");
  Line rest = compute_buffer(sheet, plan, beside, "MLP, mask and hidden",
                             "llama.cpp compute buffer: what lies beside a copy of experts");
  rest.id = "mlp";
  rest.label = "Beside the experts";
  return sheet.group("activations", "Compute buffer",
                     {rest, sheet.leaf("copied_experts", "Copy of experts", {times("", copied, "B")},
                                       "experts in host memory; large batches take a copy of a tensor of them", 0.02)});
}

/// llama.cpp's compute buffer, on every device: the largest of what logits, attention and an MLP hold. Masks are let go
/// of where they have been cast, but not where there are four of them. Reproduces logs of sixteen models to 1%:
/// 3584.09 MiB of GLM-4.5-Air at 131072 cells and micro-batches of 4096.
Line llamacpp_activations(Sheet& sheet, const Plan& plan, const Replica& replica, const ServingStage& stage) {
  const Architecture& a = plan.subject->architecture;
  const LlamacppBuild build = llamacpp_build(plan.engine_version);
  const bool copies = copies_inputs(plan, replica);
  const Masks masks = masks_of(plan, build, copies);
  const double held = copies ? kInputCopies * (masks.given + a.hidden) : 0, given = copies ? 0 : masks.given;
  const double scores_of = plan.flash ? 0 : a.heads * llamacpp_context(plan);
  Line logits = compute_buffer(sheet, plan, (build.logits_of_slots ? 0 : a.vocab) + a.hidden + held,
                               "logits and hidden", "llama.cpp compute buffer: logits of a micro-batch in fp32");
  if (const double head = copied_head_bytes(plan, stage, build); head > 0) {
    logits.id = "logits";
    logits.label = "Logits of a micro-batch";
    logits = sheet.group("activations", "Compute buffer",
                         {logits, sheet.leaf("copied_head", "Copy of the output head", {times("", head, "B")},
                                             "the head stays in host memory; large batches take a copy of it", 0.02)});
  }
  Line scores = compute_buffer(sheet, plan, scores_of + given + masks.cast + held + token_elements(plan),
                               plan.flash ? "masks and hidden" : "scores, mask and hidden",
                               plan.flash ? "llama.cpp compute buffer: the mask of attention"
                                          : "llama.cpp compute buffer without flash attention: scores in fp32");
  const double kept = masks.cast > 0 ? masks.cast : given;
  Line mlp = compute_buffer(sheet, plan, mlp_elements(plan, build) + kept + held, "MLP, mask and hidden",
                            "llama.cpp compute buffer: an MLP's widths in fp32");
  Line experts = copied_experts_line(sheet, plan, stage, build, masks);
  Line* largest = &logits;
  for (Line* line : {&scores, &mlp, &experts}) {
    if (line->bytes > largest->bytes) largest = line;
  }
  return *largest;
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
  if (plan.engine == Engine::llamacpp) return llamacpp_activations(sheet, plan, replica, stage);
  if (plan.engine == Engine::vllm) return vllm_activations(sheet, plan, replica, stage);
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

Line buffers_line(Sheet& sheet, const Plan& plan, const Replica& replica, bool samples) {
  LineList children(sheet);
  if (plan.engine == Engine::sglang && plan.max_len > 0) {
    children.push_back(
        sheet.leaf("request_table", "Request to token table",
                   {times("n", plan.max_seqs, "requests"), times("s", plan.max_len, "tokens"), times("", 4, "B")},
                   "sglang memory_pool.py, ReqToTokenPool", 0.01));
  }
  if (plan.engine == Engine::vllm) {
    children.push_back(sheet.leaf("non_torch", "Outside PyTorch", {times("", kNonTorchBytes, "B")},
                                  "non-torch memory of vllm start-up logs, 0.01 to 0.35 GiB", 0.8));
    if (samples && vllm_run(plan).second_runner) children.push_back(sampler_counts_line(sheet, plan));
  }
  if (plan.engine == Engine::vllm && plan.subject->architecture.has_vision && vllm_run(plan).caches_encoder) {
    children.push_back(sheet.leaf("encoder_cache", "Encoder cache",
                                  {times("T", plan.batch_tokens, "tokens of a batch"),
                                   times("h", plan.subject->architecture.hidden, "hidden size"), times("", kHalf, "B")},
                                  "a batch of the tower's outputs (vllm v1/worker/gpu_model_runner.py, profile_run)",
                                  0.3));
  }
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

Line host_compute_line(Sheet& sheet, const Plan& plan) {
  const LlamacppBuild build = llamacpp_build(plan.engine_version);
  const bool copies = copies_inputs(plan, replica_of(plan));
  const double streams = build.embeds_twice ? 2 : 1, given = masks_of(plan, build, copies).given;
  const double masks = build.inputs_apart ? 0 : (copies ? kInputCopies : 1) * given;
  return sheet.leaf("activations", "Compute buffer",
                    {times("u", plan.ubatch, "tokens of a micro-batch"), times("", 4, "B"),
                     times("c + h", masks + streams * plan.subject->architecture.hidden, "mask and hidden")},
                    "llama.cpp: attention mask and embeddings in fp32", 0.1);
}

RuntimeLines runtime_lines(Sheet& sheet, const Plan& plan, const Replica& replica, const ServingStage& stage) {
  return {activations_line(sheet, plan, replica, stage), graphs_line(sheet, plan, stage),
          buffers_line(sheet, plan, replica, stage.has_head), context_line(sheet, plan)};
}

}  // namespace vram
