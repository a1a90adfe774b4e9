#include <algorithm>
#include <string_view>

#include "engine/sheet.h"
#include "engine/training/activations.h"
#include "engine/training/bands.h"
#include "engine/training/gathered.h"
#include "engine/training/lora.h"
#include "engine/training/saved_tensors.h"
#include "engine/training/stand_ins.h"
#include "engine/training/states.h"
#include "engine/training/storage.h"
#include "engine/units.h"

namespace vram {
namespace {

/// Compute capability 9.0 and above in data centres: cuBLAS wants more room there.
bool is_hopper_or_later(const Accelerator& gpu) {
  return gpu.family == "NVIDIA Hopper" || gpu.family.starts_with("NVIDIA Blackwell") || gpu.family == "NVIDIA Rubin";
}

/// PyTorch gives each cuBLAS handle a workspace, and forward and backward run on a thread and a handle each: twice
/// 8.125 MiB, or 32 MiB on Hopper (aten/src/ATen/cuda/CublasHandlePool.cpp, parseChosenWorkspaceSize). 16.25 MiB is
/// what one-GPU runs of fms-acceleration hold beside their states.
Line cublas_leaf(Sheet& sheet, bool hopper) {
  return sheet.leaf("cublas", "cuBLAS",
                    {times("n", 2, "handles"), times("MiB", hopper ? 32 : 8.125, "MiB"), times("B", kMiB, "bytes")},
                    "PyTorch, aten/src/ATen/cuda/CublasHandlePool.cpp: forward and backward threads, a handle each",
                    kBuffersBand);
}

/// TransformerEngine's own (pytorch/module/base.py, get_cublas_workspace_size_bytes): 32 MiB on Hopper, else 4.
Line transformer_engine_leaf(Sheet& sheet, bool hopper) {
  return sheet.leaf("transformer_engine", "TransformerEngine",
                    {times("MiB", hopper ? 32 : 4, "MiB"), times("B", kMiB, "bytes")},
                    "TransformerEngine, pytorch/module/base.py, get_cublas_workspace_size_bytes", kBuffersBand);
}

/// Experts' grouped products run on four streams, a workspace each (get_multi_stream_cublas_workspace there).
Line grouped_leaf(Sheet& sheet, bool hopper) {
  return sheet.leaf("grouped", "TransformerEngine, grouped products",
                    {times("n", 4, "streams"), times("MiB", hopper ? 32 : 4, "MiB"), times("B", kMiB, "bytes")},
                    "TransformerEngine, pytorch/module/base.py, get_multi_stream_cublas_workspace", kBuffersBand);
}

/// A line a trained group: its parameters and what `add` puts to them.
template <class Add>
LineList trained_lines(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups, const char* note,
                       double band, Add add) {
  LineList children(sheet, groups.size());
  for (const ParameterGroup& g : groups) {
    if (!g.trained) continue;
    Factors factors = count_factors(plan, g);
    add(g, factors);
    children.push_back(sheet.leaf(g.id, g.label, std::move(factors), note, band));
  }
  return children;
}

/// A copy of `bytes` of each gradient.
LineList gradient_copies(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups, double bytes,
                         const char* note) {
  return trained_lines(sheet, plan, groups, note, kBuffersBand, [bytes](const ParameterGroup&, Factors& factors) {
    factors.push_back(times("B", bytes, "bytes each"));
  });
}

/// The rank's share of an optimizer's own, less what lies in host memory.
void push_shard(const Plan& plan, const ParameterGroup& group, Factors& factors) {
  if (plan.zero >= 1 && group.shards > 1) factors.push_back(over("n", group.shards, "ranks of the sharding group"));
  push_kept_share(plan, offloads_optimizer(plan), factors);
}

/// foreach implementations make one more copy of every parameter's update (torch/optim/adam.py, _multi_tensor_adam):
/// peaks of full fine-tuning runs are exactly that much higher (fms-acceleration: 10.00 B a parameter, not 8).
bool has_update_copies(const Plan& plan) {
  return !plan.fused_optimizer && !plan.optimizer_in_backward && plan.optimizer != Optimizer::adafactor &&
         plan.optimizer != Optimizer::adamw8bit && plan.optimizer != Optimizer::adamw4bit;
}

Line update_copies(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups) {
  const Storage storage = storage_of(plan);
  const auto add = [&](const ParameterGroup& g, Factors& factors) {
    push_bits(storage.master > 0 ? storage.master : storage.weight, "bytes each", factors);
    push_shard(plan, g, factors);
  };
  return sheet.sum("updates", "Optimizer temporaries",
                   trained_lines(sheet, plan, groups, "torch.optim, foreach", kStatesBand, add));
}

/// The same of adapters and of what is trained beside them.
Line adapter_update_copies(Sheet& sheet, const Plan& plan, const Stage& stage) {
  return sheet.sum("updates", "Optimizer temporaries", adapter_weights(sheet, plan, stage), "torch.optim, foreach");
}

/// DDP keeps gradients and their buckets apart (gradient_as_bucket_view is off by default).
Line bucket_copies(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups) {
  const double bits = storage_of(plan).gradient;
  const auto add = [bits](const ParameterGroup&, Factors& factors) { push_bits(bits, "bytes each", factors); };
  return sheet.sum("buckets", "Buckets of gradients",
                   trained_lines(sheet, plan, groups, "torch.nn.parallel.DistributedDataParallel", kStatesBand, add));
}

/// Elements of a rank, before ZeRO.
double trained_elements(const Plan& plan, const Stage& stage, const std::vector<ParameterGroup>& groups) {
  if (!trains_all(plan)) return adapter_parameters(plan, stage) + trained_embedding_parameters(plan, stage);
  double elements = 0;
  for (const ParameterGroup& g : groups)
    if (g.trained) elements += elements_a_rank(plan, g);
  return elements;
}

/// DeepSpeed's fp32 copy of a rank's gradients and the flat half-precision one it is made of (runtime/zero/
/// stage_1_and_2.py, step; stage3.py): 6 B a parameter of the rank's share, 2 where master weights are 16-bit, too;
/// ZeRO-Offload's lie in host memory (arXiv 2101.06840, section 4.1). Without ZeRO the fp32 copy is whole
/// (runtime/fp16/fused_optimizer.py, step).
double copied_gradient_bytes(const Plan& plan) {
  if (trains_all(plan) && storage_of(plan).master == 16) return 2;
  return plan.zero >= 1 ? 6 : 4;
}

Line deepspeed_copies(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups) {
  const double bytes = copied_gradient_bytes(plan);
  const auto add = [&](const ParameterGroup& g, Factors& factors) {
    factors.push_back(times("B", bytes, "bytes each"));
    push_shard(plan, g, factors);
  };
  constexpr const char* kNote = "DeepSpeed, runtime/zero/stage_1_and_2.py; 6.7 fitted on BLOOM";
  return sheet.sum("fp32_gradients", "fp32 gradients of the step",
                   trained_lines(sheet, plan, groups, kNote, kBuffersBand, add));
}

/// With fp32 accumulation the parameters still get their own bf16 gradients (DeepSpeed, runtime/bf16_optimizer.py).
Line deepspeed_bf16_gradients(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups) {
  return sheet.sum("bf16_gradients", "bf16 gradients",
                   gradient_copies(sheet, plan, groups, 2, "DeepSpeed, runtime/bf16_optimizer.py"));
}

/// ZeRO 3 steps one sub-group after the other and has fp32 gradients of that one alone (runtime/zero/stage3.py,
/// _prepare_fp32_grad_for_sub_group and _release_sub_group; runtime/zero/config.py, sub_group_size).
Line sub_group_gradients(Sheet& sheet, const Plan& plan, double elements) {
  constexpr double kSubGroup = 1e9;
  Factors factors = {times("P", std::min(kSubGroup, elements / plan.dense_shards()), "parameters of a sub-group"),
                     times("B", copied_gradient_bytes(plan), "bytes each")};
  push_kept_share(plan, offloads_optimizer(plan), factors);
  return sheet.group("fp32_gradients", "fp32 gradients of the step",
                     {sheet.leaf("sub_group", "A sub-group", std::move(factors),
                                 "DeepSpeed, runtime/zero/stage3.py, _prepare_fp32_grad_for_sub_group", kBuffersBand)});
}

/// As deepspeed_copies, of adapters.
Line adapter_copies(Sheet& sheet, const Plan& plan, double elements) {
  Factors factors = {times("P", elements, "trained parameters"), times("B", copied_gradient_bytes(plan), "bytes each")};
  if (plan.zero >= 1 && plan.dense_shards() > 1)
    factors.push_back(over("n", plan.dense_shards(), "ranks of the sharding group"));
  push_kept_share(plan, offloads_optimizer(plan), factors);
  return sheet.group("fp32_gradients", "fp32 gradients of the step",
                     {sheet.leaf("trained", "Adapters", std::move(factors), "DeepSpeed, runtime/zero/stage_1_and_2.py",
                                 kBuffersBand)});
}

/// What DeepSpeed keeps of gradients beyond ZeRO's own account.
void add_deepspeed_gradients(Sheet& sheet, const Plan& plan, const Stage& stage,
                             const std::vector<ParameterGroup>& groups, PhaseKind phase, LineList& out) {
  const Storage storage = trains_all(plan) ? storage_of(plan) : adapter_storage(plan);
  if (plan.framework != Framework::deepspeed || storage.master <= 0) return;
  const double elements = trained_elements(plan, stage, groups);
  if (storage.gradient == 32)
    out.push_back(deepspeed_bf16_gradients(sheet, plan, groups));
  else if (plan.zero < 3)
    out.push_back(trains_all(plan) ? deepspeed_copies(sheet, plan, groups) : adapter_copies(sheet, plan, elements));
  else if (phase == PhaseKind::optimizer)
    out.push_back(sub_group_gradients(sheet, plan, elements));
}

/// DeepSpeed's ZeRO gathers gradients in one buffer before it reduces them, always as large (runtime/zero/config.py,
/// reduce_bucket_size; stage_1_and_2.py, setup_buckets; transformers' "auto" under ZeRO 3 is hidden × hidden,
/// integrations/deepspeed.py, where it is transformers that reads the configuration and turns zero.Init on); without
/// ZeRO it flattens no more than there are (runtime/engine.py,
/// MEMORY_OPT_ALLREDUCE_SIZE).
Line reduce_bucket(Sheet& sheet, const Plan& plan, double elements) {
  constexpr double kBucket = 5e8;
  const double hidden = plan.subject->architecture.hidden;
  const bool integrated = plan.library == Library::hf && plan.subject->has_shape && !plan.load_whole;
  const bool automatic = plan.zero >= 3 && integrated;
  const double size = automatic ? hidden * hidden : plan.zero >= 1 ? kBucket : std::min(kBucket, elements);
  return sheet.leaf("reduce_bucket", "Bucket of gradients to reduce",
                    {times("P", size, "reduce_bucket_size"), times("B", compute_bytes(plan), "bytes each")},
                    "DeepSpeed, runtime/zero/config.py, reduce_bucket_size", kBuffersBand);
}

/// fp32 gradients are reduced in bf16: a copy of all of them at once, since they lie in one flat tensor
/// (DeepSpeed, runtime/engine.py, communication_data_type and allreduce_bucket).
Line sent_gradients(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups) {
  return sheet.sum("sent_gradients", "Gradients as they are sent",
                   gradient_copies(sheet, plan, groups, 2, "DeepSpeed, runtime/engine.py, allreduce_bucket"));
}

bool sends_bf16_copies(const Plan& plan) {
  const bool bf16 = plan.precision != Precision::fp16 && storage_of(plan).weight == 16;
  return plan.framework == Framework::deepspeed && trains_all(plan) && bf16 && storage_of(plan).gradient == 32 &&
         plan.dp() * plan.cp > 1;
}

/// Sequence parallelism gathers a linear's input into one buffer (Megatron-LM, core/tensor_parallel/layers.py).
Line gather_buffer(Sheet& sheet, const Plan& plan) {
  Factors factors;
  push_tokens(plan, factors);
  factors.push_back(times("h", plan.subject->architecture.hidden, "hidden"));
  factors.push_back(times("B", compute_bytes(plan), "bytes each"));
  return sheet.leaf("sequence", "Gathered sequence", std::move(factors), "Megatron-LM, core/tensor_parallel/layers.py",
                    kBuffersBand);
}

/// A k-bit matrix is expanded to 16 bit whenever it multiplies (bitsandbytes, autograd/_functions.py, MatMul4Bit);
/// where it was quantised from fp16, as litgpt's are, to that and then to bf16.
Line expanded_matrix(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups) {
  double largest = 0;
  for (const ParameterGroup& g : groups)
    if (g.block_linear) largest = std::max(largest, g.largest / g.split);
  return sheet.leaf("expanded", "Expanded matrix",
                    {times("P", largest, "weights of the largest matrix"),
                     times("B", plan.library == Library::litgpt ? 4 : 2, "bytes each")},
                    "bitsandbytes, autograd/_functions.py", kBuffersBand);
}

/// In backward a matrix is expanded while one gradient of the MLP's inner width lives; where two do, at the activation,
/// none is. The larger counts.
bool expands_at_the_peak(const Plan& plan, const Line& expanded, PhaseKind phase) {
  if (phase == PhaseKind::forward || !plan.subject->has_shape) return true;
  double gradient = 0;  // bytes a token
  for (const LayerKind& kind : plan.subject->kinds)
    gradient = std::max(gradient, transient_bytes_per_token(plan, layer_setting(plan, kind), kind) / 2);
  return static_cast<double>(expanded.bytes) > gradient * plan.micro_batch * plan.seq / plan.cp;
}

/// Elements of a token's keys and values on one rank, in the kind of layer that has most.
double key_value_width(const Plan& plan) {
  double most = 0;
  for (const LayerKind& kind : plan.subject->kinds) {
    const Attention& t = kind.attention;
    if (kind.mixer != Mixer::full && kind.mixer != Mixer::sliding) continue;
    const double heads = t.kv_lora_rank > 0 ? t.heads : t.kv_heads;  // latents are expanded before they go around
    const double head =
        t.kv_lora_rank > 0 ? t.nope_head_dim + t.rope_head_dim + t.v_head_dim : t.qk_head_dim + t.v_head_dim;
    most = std::max(most, std::max(1.0, heads / plan.tp) * head);
  }
  return most;
}

/// A layer's attention ends up with the keys and values of the whole sequence: each step of the ring has a buffer of
/// its own (TransformerEngine, pytorch/attention/context_parallel.py, p2p_comm_buffers), PyTorch gathers them
/// (torch/distributed/tensor/experimental/_attention.py, _AllGatherRotater).
Line ring_buffers(Sheet& sheet, const Plan& plan) {
  Factors factors;
  push_tokens(plan, factors);
  factors.push_back(times("cp", plan.cp, "ranks of the ring"));
  factors.push_back(times("2 k d", key_value_width(plan), "elements of K and V"));
  factors.push_back(times("B", compute_bytes(plan), "bytes each"));
  return sheet.leaf("ring", "Keys and values of the other ranks", std::move(factors),
                    "TransformerEngine, context_parallel.py, p2p_comm_buffers; torch.distributed, _AllGatherRotater",
                    kBuffersBand);
}

/// What a stage receives while it computes: with interleaved chunks the next input and the next gradient (Megatron-LM,
/// core/pipeline_parallel/schedules.py, overlap_p2p_comm); DeepSpeed keeps one buffer for each (runtime/pipe/engine.py,
/// pipe_recv_buf, grad_layer). Plain 1F1B of Megatron receives what it then works on.
double messages_ahead(const Plan& plan, const Stage& stage) {
  const bool interleaved = plan.framework == Framework::megatron && plan.schedule == Schedule::interleaved;
  if (plan.pp == 1 || !(interleaved || plan.framework == Framework::deepspeed)) return 0;
  if (interleaved) return 2;  // chunks of every rank have neighbours on both sides
  return (stage.first ? 0 : 1) + (stage.last ? 0 : 1);
}

/// What one stage hands to the next of a micro-batch.
void push_stage_input(const Plan& plan, Factors& factors) {
  push_tokens(plan, factors);
  factors.push_back(times("h", plan.subject->architecture.hidden, "hidden"));
  factors.push_back(times("B", compute_bytes(plan), "bytes each"));
  if (plan.sp && plan.tp > 1) factors.push_back(over("tp", plan.tp, "tensor parallel"));
}

Line pipeline_messages(Sheet& sheet, const Plan& plan, double messages) {
  Factors factors = {times("n", messages, "messages")};
  push_stage_input(plan, factors);
  return sheet.leaf(
      "messages", "Messages of the pipeline", std::move(factors),
      "Megatron-LM, core/pipeline_parallel/schedules.py, overlap_p2p_comm; DeepSpeed, runtime/pipe/engine.py",
      kBuffersBand);
}

/// Every chunk of a pipeline's rank holds on to its last input, and with it to the input's gradient, until the next one
/// comes (Megatron-LM, core/transformer/transformer_block.py, set_input_tensor; core/pipeline_parallel/schedules.py,
/// backward_step retains the gradient). The first chunk of the model has none.
Line stage_inputs(Sheet& sheet, const Plan& plan, const Stage& stage) {
  Factors factors = {times("c", stage.chunks - (stage.first ? 1 : 0), "chunks with an input"),
                     times("2", 2, "it and its gradient")};
  push_stage_input(plan, factors);
  return sheet.leaf("stage_inputs", "Last inputs of the stage's chunks", std::move(factors),
                    "Megatron-LM, core/transformer/transformer_block.py, set_input_tensor", kBuffersBand);
}

/// Buffers beside the workspaces that live through the step of the optimizer.
void add_optimizer_buffers(Sheet& sheet, const Plan& plan, const Stage& stage,
                           const std::vector<ParameterGroup>& groups, LineList& out) {
  if (has_update_copies(plan))
    out.push_back(trains_all(plan) ? update_copies(sheet, plan, groups) : adapter_update_copies(sheet, plan, stage));
  if (plan.library == Library::megatron && plan.pp > 1 && plan.subject->has_shape)
    out.push_back(stage_inputs(sheet, plan, stage));
}

/// TransformerEngine quantises a linear's weight in a step's first micro-batch and keeps it for the others, beside the
/// 16-bit weight: rows for forward, columns for backward (pytorch/module/base.py, get_weight_workspace; Megatron-LM,
/// core/extensions/transformer_engine.py, is_first_microbatch).
Line quantised_weights(Sheet& sheet, const Plan& plan, const std::vector<ParameterGroup>& groups) {
  LineList children(sheet, groups.size());
  for (const ParameterGroup& g : groups) {
    if (!multiplies_quantised(plan, g)) continue;
    Factors factors = count_factors(plan, g);
    factors.push_back(times("B", quantised_weight_bytes(plan), "bytes of rows and columns"));
    children.push_back(sheet.leaf(g.id, g.label, std::move(factors),
                                  "TransformerEngine, pytorch/module/base.py, get_weight_workspace", kBuffersBand));
  }
  return sheet.sum("quantised_weights", "Quantised weights", children);
}

}  // namespace

Line workspace_line(Sheet& sheet, const Plan& plan) {
  const bool hopper = is_hopper_or_later(*plan.accelerator);
  LineList children(sheet, {cublas_leaf(sheet, hopper)});
  if (plan.library == Library::megatron) children.push_back(transformer_engine_leaf(sheet, hopper));
  if (plan.library == Library::megatron && plan.experts > 0) children.push_back(grouped_leaf(sheet, hopper));
  return sheet.sum("workspace", "Workspaces of matrix products", children);
}

LineList lasting_buffers(Sheet& sheet, const Plan& plan, const Stage& stage, const std::vector<ParameterGroup>& groups,
                         const Line& workspace) {
  LineList lines(sheet, {workspace});
  if (computes_quantised(plan) && !plan.fp8_params) lines.push_back(quantised_weights(sheet, plan, groups));
  if (has_stand_ins(plan)) lines.push_back(stand_ins_line(sheet, plan, stage));
  return lines;
}

Line buffers_line(Sheet& sheet, const Plan& plan, const Stage& stage, const std::vector<ParameterGroup>& groups,
                  Lines lasting, PhaseKind phase) {
  LineList children(sheet, lasting.size() + 4);
  children.append(lasting);
  const bool optimizer = phase == PhaseKind::optimizer;
  if (optimizer) add_optimizer_buffers(sheet, plan, stage, groups, children);
  const bool reduces = plan.dp() * plan.cp > 1;  // context-parallel ranks see other tokens of the same sequences
  if (plan.framework == Framework::ddp && reduces && trains_all(plan))
    children.push_back(bucket_copies(sheet, plan, groups));
  add_deepspeed_gradients(sheet, plan, stage, groups, phase, children);
  if (plan.framework == Framework::deepspeed && (plan.zero >= 1 || reduces))
    children.push_back(reduce_bucket(sheet, plan, trained_elements(plan, stage, groups)));
  if (phase == PhaseKind::reduce && sends_bf16_copies(plan)) children.push_back(sent_gradients(sheet, plan, groups));
  if (plan.sp && plan.tp > 1 && plan.subject->has_shape && !optimizer) children.push_back(gather_buffer(sheet, plan));
  const bool in_layers = !optimizer && phase != PhaseKind::loss;
  const double ahead = messages_ahead(plan, stage);
  if (ahead > 0 && plan.subject->has_shape && !optimizer) children.push_back(pipeline_messages(sheet, plan, ahead));
  if (plan.cp > 1 && plan.subject->has_shape && in_layers && phase != PhaseKind::reduce)
    children.push_back(ring_buffers(sheet, plan));
  if (!trains_all(plan) && frozen_linear_bits(plan) < 16 && in_layers) {
    Line expanded = expanded_matrix(sheet, plan, groups);
    if (expands_at_the_peak(plan, expanded, phase)) children.push_back(expanded);
  }
  return sheet.sum("buffers", "Buffers", children, "workspaces, temporaries of the step, copies of gradients");
}

}  // namespace vram
