#include "engine/serving/llamacpp_buffer.h"

#include <algorithm>

#include "engine/serving/llamacpp.h"
#include "engine/serving/llamacpp_attention.h"
#include "engine/serving/llamacpp_cells.h"
#include "engine/serving/llamacpp_graph.h"
#include "engine/serving/runtime.h"
#include "engine/serving/weights.h"

namespace vram {
namespace {

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
  const double cells = llamacpp_cells(plan) + llamacpp_window_cells(plan);
  if (!plan.flash) return {cells + index_elements(plan, build), 0};
  return build.masks_in_half ? Masks{cells / 2, copies ? cells / 2 : 0} : Masks{cells, cells / 2};
}

/// A head that stays in host memory is copied to the first GPU, which works it out for large batches (ggml-cuda.cu,
/// ggml_backend_cuda_device_offload_op: from 32 tokens on). 173.04 MiB of a 7B in Q5_K_M, 137.79 with micro-batches of
/// 256, 669.48 of an 8B with 128256 logits.
double copied_head_bytes(const Plan& plan, const ServingStage& stage, const LlamacppBuild& build) {
  if (!host_stage(plan).has_head || !stage.has_outside || !build.copies_weights || plan.ubatch < 32) return 0;
  return head_bytes(plan);
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

/// What attention reads a layer's cache as, of the widest layer.
double converted_cache_bytes(const Plan& plan, const LlamacppBuild& build) {
  const double window = llamacpp_window_cells(plan), all = llamacpp_cells(plan);
  double most = 0;
  for (const LayerKind& kind : plan.subject->kinds) {
    const double cells = kind.mixer == Mixer::sliding && window > 0 ? window : all;
    if (kind.mixer == Mixer::full || kind.mixer == Mixer::sliding)
      most = std::max(most, llamacpp_converted_bytes(plan, build, kind.attention, cells));
  }
  return most;
}

struct Copy {
  const char* id;
  const char* label;
  double bytes;
  const char* note;
};

/// The line, or, where there is a copy of something beside it, both.
Line with_copy(Sheet& sheet, Line line, const char* id, const char* label, const Copy& copy) {
  if (copy.bytes <= 0) return line;
  line.id = id;
  line.label = label;
  return sheet.group("activations", "Compute buffer",
                     {line, sheet.leaf(copy.id, copy.label, {times("", copy.bytes, "B")}, copy.note, 0.02)});
}

/// llama.cpp's compute buffer, on every device: the largest of what logits, attention and an MLP hold. Masks are let go
/// of where they have been cast, but not where there are four of them. Reproduces logs of sixteen models to 1%:
/// 3584.09 MiB of GLM-4.5-Air at 131072 cells and micro-batches of 4096.
Line estimated_line(Sheet& sheet, const Plan& plan, const Replica& replica, const ServingStage& stage) {
  const Architecture& a = plan.subject->architecture;
  const LlamacppBuild build = llamacpp_build(plan.engine_version);
  const bool copies = copies_inputs(plan, replica);
  const Masks masks = masks_of(plan, build, copies);
  const double held = copies ? kInputCopies * (masks.given + a.hidden) : 0, given = copies ? 0 : masks.given;
  const double scores_of = plan.flash ? 0 : a.heads * llamacpp_cells(plan);
  Line logits = compute_buffer(sheet, plan, (build.logits_of_slots ? 0 : a.vocab) + a.hidden + held,
                               "logits and hidden", "llama.cpp compute buffer: logits of a micro-batch in fp32");
  logits = with_copy(sheet, logits, "logits", "Logits of a micro-batch",
                     {"copied_head", "Copy of the output head", copied_head_bytes(plan, stage, build),
                      "the head stays in host memory; large batches take a copy of it"});
  Line scores = compute_buffer(sheet, plan, scores_of + given + masks.cast + held + token_elements(plan),
                               plan.flash ? "masks and hidden" : "scores, mask and hidden",
                               plan.flash ? "llama.cpp compute buffer: the mask of attention"
                                          : "llama.cpp compute buffer without flash attention: scores in fp32");
  scores = with_copy(sheet, scores, "scores", "Attention",
                     {"converted_cache", "Cache of a layer in fp16", converted_cache_bytes(plan, build),
                      "CUDA's flash attention reads keys and values in fp16: llama.cpp#23907"});
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

struct PartLabel {
  const char* id;
  const char* label;
};
constexpr PartLabel kParts[kGgmlParts] = {
    {"hidden", "Hidden states of a batch"}, {"scores", "Attention"},
    {"masks", "Masks and other inputs"},    {"mlp", "MLP"},
    {"logits", "Logits of a micro-batch"},  {"copied_weights", "Copies of weights"}};

/// A buffer at the moment that makes it as large as it is.
Line reserved_line(Sheet& sheet, const GgmlBuffer& buffer) {
  constexpr const char* kNote = "llama.cpp's graph of a micro-batch as ggml-alloc.c lays it out, when most is in use";
  LineList children(sheet);
  double gaps = buffer.bytes;
  for (size_t i = 0; i < kGgmlParts; ++i) {
    gaps -= buffer.parts[i];
    if (buffer.parts[i] > 0)
      children.push_back(sheet.leaf(kParts[i].id, kParts[i].label, {times("", buffer.parts[i], "B")}, kNote, 0.05));
  }
  if (gaps > 0) children.push_back(sheet.leaf("gaps", "Gaps between tensors", {times("", gaps, "B")}, kNote, 0.05));
  return sheet.group("activations", "Compute buffer", children);
}

std::vector<GgmlBuffer> reserved(const Plan& plan, const Replica& replica) {
  return llamacpp_buffers(plan, llamacpp_build(plan.engine_version), replica,
                          copies_inputs(plan, replica) ? static_cast<int>(kInputCopies) : 1);
}

size_t gpu_of(const Plan& plan, const Replica& replica, const ServingStage& stage) {
  const std::vector<ServingStage> stages = serving_stages(plan, replica);
  size_t gpu = 0;
  while (gpu + 1 < stages.size() && stages[gpu].first + stages[gpu].count <= stage.first) ++gpu;
  return gpu;
}

}  // namespace

bool copies_inputs(const Plan& plan, const Replica& replica) {
  const bool all = plan.gpu_layers >= static_cast<double>(plan.subject->layers.size()) && plan.n_cpu_moe < 1;
  const LlamacppBuild build = llamacpp_build(plan.engine_version);
  return replica.pp > 1 && all && !build.one_buffer && !build.inputs_apart;
}

Line llamacpp_compute_line(Sheet& sheet, const Plan& plan, const Replica& replica, const ServingStage& stage) {
  const std::vector<GgmlBuffer> buffers = reserved(plan, replica);
  if (buffers.empty()) return estimated_line(sheet, plan, replica, stage);
  return reserved_line(sheet, buffers[gpu_of(plan, replica, stage)]);
}

Line host_compute_line(Sheet& sheet, const Plan& plan) {
  if (const std::vector<GgmlBuffer> buffers = reserved(plan, replica_of(plan)); !buffers.empty())
    return reserved_line(sheet, buffers.back());
  const LlamacppBuild build = llamacpp_build(plan.engine_version);
  const bool copies = copies_inputs(plan, replica_of(plan));
  const double streams = build.embeds_twice ? 2 : 1, given = masks_of(plan, build, copies).given;
  const double masks = build.inputs_apart ? 0 : (copies ? kInputCopies : 1) * given;
  return sheet.leaf("activations", "Compute buffer",
                    {times("u", plan.ubatch, "tokens of a micro-batch"), times("", 4, "B"),
                     times("c + h", masks + streams * plan.subject->architecture.hidden, "mask and hidden")},
                    "llama.cpp: attention mask and embeddings in fp32", 0.1);
}

/// The first rows of the output buffer, which grows where a batch asks for more (src/llama-context.cpp, output_reserve:
/// max(n_outputs, n_seq_max) x n_vocab; llama.cpp#6122).
Line llamacpp_output_line(Sheet& sheet, const Plan& plan) {
  const LlamacppBuild build = llamacpp_build(plan.engine_version);
  if (build.one_buffer || build.inputs_apart) return nothing(sheet, "outputs", "Output buffer");
  return sheet.leaf("outputs", "Output buffer",
                    {times("n", std::max(1.0, plan.concurrency), "requests"),
                     times("V", plan.subject->architecture.vocab, "vocabulary"), times("", 4, "B")},
                    "llama.cpp: logits of one token of each slot in fp32");
}

}  // namespace vram
