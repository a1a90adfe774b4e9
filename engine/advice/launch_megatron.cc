#include <algorithm>
#include <cmath>

#include "engine/advice/launch_dialects.h"
#include "engine/advice/launch_megatron_model.h"
#include "engine/units.h"

// Megatron-LM, megatron/training/arguments.py and the fields of its TransformerConfig: names and defaults.
namespace vram {
namespace {

constexpr FlagRow kRows[] = {
    {Key::framework, "", "", "megatron"},
    {Key::library, "", "", ""},
    {Key::method, "", "", "full"},
    {Key::optimizer, "optimizer", "adam=adamw sgd=sgdm muon=muon dist_muon=muon lion=lion", "adamw"},
    {Key::tp, "tensor-model-parallel-size", "", "1"},
    {Key::pp, "pipeline-model-parallel-size", "", "1"},
    {Key::cp, "context-parallel-size", "", "1"},
    {Key::ep, "expert-model-parallel-size", "", "1"},
    {Key::etp, "expert-tensor-parallel-size", "", ""},
    {Key::sp, "sequence-parallel", "=1", "0"},
    {Key::seq, "seq-length encoder-seq-length", "", "?"},
    {Key::micro_batch, "micro-batch-size", "", "1"},
    {Key::global_batch, "global-batch-size", "", ""},
    {Key::recompute, "recompute-granularity", "full=full selective=selective", ""},
    {Key::recompute, "recompute-activations", "=selective", "none"},
    {Key::recompute_modules, "recompute-modules", "", ""},
    {Key::attention, "attention-backend", "flash=flash fused=flash auto=flash unfused=eager local=eager", "flash"},
    {Key::moe_capacity, "moe-expert-capacity-factor", "", "0"},
    {Key::offload_fraction, "optimizer-offload-fraction", "", "1"},
    {Key::fp8_params, "fp8-param-gather", "=1", "0"},
    {Key::grad_fusion, "no-gradient-accumulation-fusion", "=0", "1"},
    {Key::grad_dtype, "main-grads-dtype", "fp32= bf16=bf16", ""},
    {Key::moments, "exp-avg-dtype", "fp32= bf16=bf16 fp8=fp8", ""},
};

/// Gradients and moments below fp32 need the optimizer that knows them.
void write_precision_aware(LaunchWriter& writer) {
  const Plan& plan = writer.plan();
  const bool moments = plan.has(Key::moments) && writer.is_said(Key::moments);
  const bool gradients = plan.has(Key::grad_dtype) && writer.is_said(Key::grad_dtype);
  if (moments) writer.flag("exp-avg-sq-dtype", value_text(plan, Key::moments));
  if (moments || gradients) writer.flag("use-precision-aware-optimizer");
}

void read_precision(LaunchReader& reader, GivenFlags& given) {
  const GivenFlag* fp8 = given.find("fp8-format fp8");
  const GivenFlag* fp4 = given.find("fp4-format fp4");
  const std::string recipe = given.value("fp8-recipe");
  given.find("exp-avg-sq-dtype use-precision-aware-optimizer main-params-dtype");
  if (fp4 != nullptr) return reader.set(Key::precision, "nvfp4", fp4->text);
  if (fp8 != nullptr) return reader.set(Key::precision, recipe == "mxfp8" ? "mxfp8" : "fp8", fp8->text);
  if (given.has("bf16")) return reader.set(Key::precision, "bf16", "--bf16");
  if (given.has("fp16")) return reader.set(Key::precision, "fp16", "--fp16");
  reader.set(Key::precision, "fp32");
}

void write_precision(LaunchWriter& writer) {
  const Precision precision = writer.plan().precision;
  if (precision == Precision::bf16_pure || precision == Precision::fp16_pure) return;
  writer.said({Key::precision});
  if (precision == Precision::fp32) return;
  writer.flag(precision == Precision::fp16 ? "fp16" : "bf16");
  if (precision == Precision::fp8 || precision == Precision::mxfp8) writer.flag("fp8-format", "hybrid");
  if (precision == Precision::mxfp8) writer.flag("fp8-recipe", "mxfp8");
  if (precision == Precision::nvfp4) writer.flag("fp4-format", "e2m1");
}

/// The distributed optimizer is ZeRO 1; Megatron's own FSDP says which stage.
void read_sharding(LaunchReader& reader, GivenFlags& given) {
  const GivenFlag* fsdp = given.find("use-megatron-fsdp use-custom-fsdp");
  const std::string strategy = given.value("data-parallel-sharding-strategy");
  reader.clear(Key::shard);
  if (fsdp != nullptr) {
    const char* stage = strategy == "no_shard"      ? "0"
                        : strategy == "optim"       ? "1"
                        : strategy == "optim_grads" ? "2"
                                                    : "3";
    given.find("use-distributed-optimizer");
    return reader.set(Key::zero, stage, fsdp->text);
  }
  const bool distributed = given.has("use-distributed-optimizer");
  reader.set(Key::zero, distributed ? "1" : "0", distributed ? "--use-distributed-optimizer" : "");
}

void write_sharding(LaunchWriter& writer) {
  const double zero = writer.plan().zero;
  writer.said({Key::zero});
  if (zero >= 1) writer.flag("use-distributed-optimizer");
  if (zero < 2) return;
  writer.flag("use-megatron-fsdp");
  writer.flag("data-parallel-sharding-strategy", zero == 2 ? "optim_grads" : "optim_grads_params");
}

/// Chunks a stage: given, or from the layers of each.
void read_virtual_pipeline(LaunchReader& reader, GivenFlags& given, double layers) {
  reader.clear(Key::vpp);
  for (const Key key : {Key::stages, Key::schedule}) reader.clear(key);
  if (const GivenFlag* chunks = given.find("num-virtual-stages-per-pipeline-rank"); chunks != nullptr) {
    return reader.set(Key::vpp, chunks->value, chunks->text);
  }
  const GivenFlag* each = given.find("num-layers-per-virtual-pipeline-stage");
  if (each == nullptr) return;
  const double stage = layers / given.number("pipeline-model-parallel-size", 1);
  const double chunks = std::floor(stage / given.number("num-layers-per-virtual-pipeline-stage", stage));
  if (chunks >= 1) return reader.set(Key::vpp, write_number(chunks), each->text);
  reader.note(Key::vpp, each->value, "how many chunks that makes cannot be said without --num-layers");
}

/// "block" recomputes that many layers of every stage and chunk, "uniform" all of them.
void read_recomputed_layers(LaunchReader& reader, GivenFlags& given) {
  const std::string method = given.value("recompute-method");
  const GivenFlag* layers = given.find("recompute-num-layers");
  reader.clear(Key::recompute_layers);
  if (method != "block" || layers == nullptr) return;
  const double each = given.number("recompute-num-layers", 0);
  reader.set(Key::recompute_layers, write_number(each * reader.plan().pp * reader.plan().vpp), layers->text);
}

void write_recomputed_layers(LaunchWriter& writer) {
  const Plan& plan = writer.plan();
  if (plan.recompute != Recompute::full) return;
  const double each = plan.recompute_layers / (plan.pp * plan.vpp);
  const bool some = plan.has(Key::recompute_layers);
  if (!some || each == std::floor(each)) writer.said({Key::recompute_layers});
  const bool block = some && each == std::floor(each) && each >= 1;
  writer.flag("recompute-method", block ? "block" : "uniform");
  writer.flag("recompute-num-layers", block ? write_number(each) : "1");
}

void read_offload(LaunchReader& reader, GivenFlags& given) {
  reader.clear(Key::offload);
  if (given.has("optimizer-cpu-offload")) {
    reader.set(Key::offload, "optimizer", "--optimizer-cpu-offload");
  } else if (given.has("cpu-offloading fine-grained-activation-offloading")) {
    reader.set(Key::offload, "activations", "--cpu-offloading");
  }
}

/// TransformerEngine's cross-entropy works in place, Megatron-LM's own is compiled.
void read_loss(LaunchReader& reader, GivenFlags& given) {
  const bool in_place = given.value("cross-entropy-fusion-impl") == "te";
  reader.clear(Key::loss);
  if (given.has("cross-entropy-loss-fusion"))
    reader.set(Key::loss, in_place ? "inplace" : "compiled", "--cross-entropy-loss-fusion");
}

void write_loss(LaunchWriter& writer) {
  const Loss loss = writer.plan().loss;
  if (loss != Loss::compiled && loss != Loss::inplace) return;
  writer.said({Key::loss});
  writer.flag("cross-entropy-loss-fusion");
  if (loss == Loss::inplace) writer.flag("cross-entropy-fusion-impl", "te");
}

/// Both rates are 0.1 where nothing is said.
void read_dropout(LaunchReader& reader, GivenFlags& given) {
  const auto on = [&](std::string_view name) { return !given.has(name) || given.number(name, 0) > 0; };
  const bool hidden = on("hidden-dropout"), attention = on("attention-dropout");
  reader.set(Key::dropout, hidden || attention ? "1" : "0");
}

void read_tokens(LaunchReader& reader, GivenFlags& given) {
  reader.resolve_now();
  const GivenFlag* samples = given.find("train-samples");
  reader.clear(Key::tokens);
  if (samples != nullptr) {
    const double count = given.number("train-samples", 0);
    if (count > 0) reader.set(Key::tokens, write_number(count * reader.plan().seq), samples->text);
    return;
  }
  read_steps(reader, given.number("train-iters", 0));
}

void read(LaunchReader& reader, GivenFlags& given) {
  read_megatron_model(reader, given);
  reader.resolve_now();
  read_gpu_count(reader, given);
  read_precision(reader, given);
  read_sharding(reader, given);
  read_virtual_pipeline(reader, given, reader.plan().layers);
  reader.resolve_now();
  read_recomputed_layers(reader, given);
  read_offload(reader, given);
  read_loss(reader, given);
  read_dropout(reader, given);
  read_tokens(reader, given);
}

void write(LaunchWriter& writer) {
  const Plan& plan = writer.plan();
  write_megatron_model(writer);
  write_precision(writer);
  write_precision_aware(writer);
  write_sharding(writer);
  if (plan.vpp > 1) writer.flag("num-virtual-stages-per-pipeline-rank", write_number(plan.vpp));
  writer.said({Key::vpp, Key::dropout});
  write_loss(writer);
  if (plan.schedule == (plan.vpp > 1 ? Schedule::interleaved : Schedule::one_f_one_b)) writer.said({Key::schedule});
  write_recomputed_layers(writer);
  if (plan.offload == Offload::optimizer) writer.flag("optimizer-cpu-offload");
  if (plan.offload == Offload::activations) writer.flag("cpu-offloading");
  if (plan.offload != Offload::all) writer.said({Key::offload});
  if (!plan.dropout) {
    writer.flag("attention-dropout", "0");
    writer.flag("hidden-dropout", "0");
  }
  if (plan.tokens > 0) {
    writer.said({Key::tokens});
    writer.flag("train-samples", write_number(std::ceil(plan.tokens / plan.seq)));
  }
}

}  // namespace

const Dialect kMegatron = {"Megatron-LM", kRows, read, write};

}  // namespace vram
