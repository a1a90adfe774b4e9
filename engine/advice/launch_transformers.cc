#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/advice/launch_dialects.h"
#include "engine/advice/launch_sharding.h"
#include "engine/units.h"

// transformers TrainingArguments, and the names that TRL, LLaMA-Factory and the examples add for models, lengths and
// adapters; what shards the states stands in launch_sharding.
namespace vram {
namespace {

/// Data-parallel ranks as these launchers see them: only DeepSpeed has tensor parallelism, nobody a pipeline.
double ranks_of(const Plan& plan) { return plan.gpus / (plan.framework == Framework::deepspeed ? plan.tp : 1); }

constexpr FlagRow kRows[] = {
    {Key::recompute, "gradient-checkpointing", "true=full =full false=none", "none"},
    {Key::attention, "attn-implementation flash-attn",
     "flash_attention_2=flash sdpa=flash flash_attention_3=flash fa2=flash auto=flash eager=eager", "flash"},
    {Key::compile, "torch-compile", "true=1 =1 false=0", "0"},
    {Key::epochs, "num-train-epochs num-epochs epochs epoch", "", "3"},
};

// Adapters: read and written only where there are any.
constexpr FlagRow kAdapters[] = {
    {Key::lora_rank, "lora-r lora-rank", "", "?"},
    {Key::lora_targets, "lora-target-modules lora-target",
     "all-linear=all all=all q_proj,v_proj=qv q_proj,k_proj,v_proj,o_proj=attention "
     "gate_proj,up_proj,down_proj=mlp all-linear,lm_head=all+head",
     "?"},
};

struct OptimizerName {
  const char* theirs;
  const char* ours;
  bool fused;
};
// The first of an optimizer is the one that is written.
constexpr OptimizerName kOptimizers[] = {
    {"adamw_torch_fused", "adamw", true},
    {"adamw_torch", "adamw", false},
    {"adamw_hf", "adamw", false},
    {"adamw_bnb_8bit", "adamw8bit", true},
    {"adamw_8bit", "adamw8bit", true},
    {"paged_adamw_8bit", "adamw8bit", true},
    {"adamw_torch_4bit", "adamw4bit", true},
    {"adafactor", "adafactor", true},
    {"lion_32bit", "lion", true},
    {"sgd", "sgd", true},
    {"paged_adamw_32bit", "adamw", true},
    {"paged_adamw", "adamw", true},
};

constexpr std::string_view kLengths =
    "max-seq-length max-length cutoff-len block-size model-max-length seq-len sequence-len max-seq-len";

void read_optimizer(LaunchReader& reader, GivenFlags& given) {
  const GivenFlag* flag = given.find("optim");
  for (const Key key : {Key::optimizer, Key::fused_optimizer, Key::moments}) reader.clear(key);
  if (flag == nullptr) return;
  for (const OptimizerName& name : kOptimizers) {
    if (flag->value != name.theirs) continue;
    reader.set(Key::optimizer, name.ours, flag->text);
    return reader.set(Key::fused_optimizer, name.fused ? "1" : "0");
  }
  reader.out().unsaid.push_back(flag->text);
}

void write_optimizer(LaunchWriter& writer) {
  const std::string ours = value_text(writer.plan(), Key::optimizer);
  for (const OptimizerName& name : kOptimizers) {
    if (ours != name.ours || writer.plan().fused_optimizer != name.fused) continue;
    writer.said({Key::optimizer, Key::fused_optimizer});
    if (&name != kOptimizers) writer.flag("optim", name.theirs);  // the first is the usual one
    return;
  }
}

bool is_on(GivenFlags& given, std::string_view name) {
  const GivenFlag* flag = given.find(name);
  return flag != nullptr && flag->value != "false" && flag->value != "False" && flag->value != "0" &&
         flag->value != "no";
}

void read_method(LaunchReader& reader, GivenFlags& given) {
  const bool four = is_on(given, "load-in-4bit") || given.value("quantization-bit") == "4";
  const bool eight = is_on(given, "load-in-8bit") || given.value("quantization-bit") == "8";
  const bool adapters =
      is_on(given, "use-peft") || is_on(given, "use-lora") || given.value("finetuning-type") == "lora";
  for (const Key key : {Key::base, Key::double_quant}) reader.clear(key);
  const bool lora = adapters || four || eight || given.has("lora-r lora-rank");
  reader.set(Key::method, four ? "qlora" : lora ? "lora" : "full", lora ? "--use_peft" : "");
  for (const Key key : {Key::lora_rank, Key::lora_targets}) reader.clear(key);
  reader.read_table(kAdapters, given);
  if (eight) reader.set(Key::base, "int8", "--load_in_8bit");
  if (four && !is_on(given, "use-bnb-nested-quant") && !is_on(given, "double-quant")) {
    reader.set(Key::double_quant, "0", "--load_in_4bit");
  }
}

void write_method(LaunchWriter& writer) {
  const Plan& plan = writer.plan();
  const bool lora = plan.method == Method::lora || plan.method == Method::qlora;
  if (lora || plan.method == Method::full) writer.said({Key::method});
  if (!lora) return writer.said({Key::lora_rank, Key::lora_targets, Key::base, Key::double_quant});
  writer.flag("use-peft", "true");
  writer.write_table(kAdapters);
  if (plan.method == Method::qlora) {
    if (plan.base == Base::nf4) writer.said({Key::base, Key::double_quant});
    writer.flag("load-in-4bit", "true");
    if (plan.double_quant) writer.flag("use-bnb-nested-quant", "true");
  } else if (plan.base == Base::int8) {
    writer.said({Key::base});
    writer.flag("load-in-8bit", "true");
  }
}

/// Mixed where bf16 or fp16 is said; a model loaded in 16 bit without it is trained in 16 bit throughout.
void read_precision(LaunchReader& reader, GivenFlags& given) {
  std::string mixed = given.value("mixed-precision");
  std::string loaded = given.value("torch-dtype dtype model-init-kwargs.torch-dtype");
  for (const char* file : {"bf16.enabled", "bf16", "bfloat16.enabled"}) {
    if (is_on(given, file) && given.value(file) != "auto") mixed = "bf16";
  }
  for (const char* file : {"fp16.enabled", "fp16"}) {
    if (is_on(given, file) && given.value(file) != "auto") mixed = "fp16";
  }
  if (is_on(given, "pure-bf16")) loaded = "bfloat16";
  for (const Key key : {Key::grad_dtype, Key::residual}) reader.clear(key);
  if (mixed == "bf16" || mixed == "fp16" || mixed == "fp8") return reader.set(Key::precision, mixed, "--" + mixed);
  if (loaded == "bfloat16") return reader.set(Key::precision, "bf16-pure", "--torch_dtype bfloat16");
  if (loaded == "float16") return reader.set(Key::precision, "fp16-pure", "--torch_dtype float16");
  reader.set(Key::precision, "fp32");
}

void write_precision(LaunchWriter& writer) {
  const Precision precision = writer.plan().precision;
  if (precision != Precision::mxfp8 && precision != Precision::nvfp4) writer.said({Key::precision});
  if (precision == Precision::bf16) writer.flag("bf16", "true");
  if (precision == Precision::fp16) writer.flag("fp16", "true");
  if (precision == Precision::bf16_pure) writer.flag("torch-dtype", "bfloat16");
  if (precision == Precision::fp16_pure) writer.flag("torch-dtype", "float16");
}

/// Liger's kernels fuse norms, activations and the head with its loss.
void read_kernels(LaunchReader& reader, GivenFlags& given) {
  const bool liger =
      is_on(given, "use-liger-kernel") || is_on(given, "use-liger") || is_on(given, "enable-liger-kernel");
  for (const Key key : {Key::loss, Key::kernels}) reader.clear(key);
  if (!liger) return;
  reader.set(Key::loss, "fused", "--use_liger_kernel");
  reader.set(Key::kernels, "fused", "--use_liger_kernel");
}

void write_kernels(LaunchWriter& writer) {
  const bool liger = writer.plan().loss == Loss::fused && writer.plan().kernels == Kernels::fused;
  if (!liger) return;
  writer.said({Key::loss, Key::kernels});
  writer.flag("use-liger-kernel", "true");
}

void read_batch(LaunchReader& reader, GivenFlags& given) {
  const double file = given.number("train-micro-batch-size-per-gpu", 0);
  const GivenFlag* each =
      given.find(file > 0 ? "train-micro-batch-size-per-gpu" : "per-device-train-batch-size micro-batch-size");
  const double batch = file > 0 ? file : given.number("per-device-train-batch-size micro-batch-size", 8);
  reader.set(Key::micro_batch, write_number(batch), each != nullptr ? each->text : "");
  const double whole = given.number("train-batch-size", 0);
  const double steps = given.number("gradient-accumulation-steps", 1);
  if (whole > 0 && steps == 1) return reader.set(Key::global_batch, write_number(whole), "train_batch_size");
  read_accumulation(reader, batch, steps);
}

/// As a flag it is of a device (diffusers, run_glue of 2020); in DeepSpeed's file of a step.
void tell_batches_apart(GivenFlags& given) {
  for (GivenFlag& flag : given.flags) {
    if (flag.name == "train-batch-size" && flag.text.starts_with("-")) flag.name = "per-device-train-batch-size";
  }
}

void read(LaunchReader& reader, GivenFlags& given) {
  tell_batches_apart(given);
  if (const GivenFlag* model =
          given.find("base-model model-name-or-path model-name pretrained-model-name-or-path model");
      model != nullptr) {
    reader.read_model(model->value, model->text);
  }
  if (const GivenFlag* length = given.find(kLengths); length != nullptr)
    reader.set(Key::seq, length->value, length->text);
  for (const Key key : {Key::pp, Key::vpp, Key::cp, Key::ep, Key::tp, Key::etp, Key::sp}) reader.clear(key);
  read_gpu_count(reader, given);
  read_sharding(reader, given);
  read_method(reader, given);
  read_precision(reader, given);
  read_state_files(reader, given);
  read_optimizer(reader, given);
  read_kernels(reader, given);
  read_batch(reader, given);
  read_steps(reader, given.number("max-steps", 0));
}

void write(LaunchWriter& writer) {
  const Plan& plan = writer.plan();
  const std::string name = model_name_of(plan);
  writer.said({Key::model, Key::seq, Key::micro_batch});
  writer.flag("model-name-or-path", name.empty() ? "path/to/model" : name);
  writer.flag("max-length", write_number(plan.seq));
  writer.flag("per-device-train-batch-size", write_number(plan.micro_batch));
  const double steps = transformers_accumulation(plan);
  if (steps * plan.micro_batch * ranks_of(plan) == plan.global_batch) writer.said({Key::global_batch});
  if (steps > 1) writer.flag("gradient-accumulation-steps", write_number(steps));
  write_precision(writer);
  write_method(writer);
  write_optimizer(writer);
  write_kernels(writer);
  if (plan.tokens > 0) {
    writer.said({Key::tokens});
    const double tokens =
        transformers_accumulation(plan) * plan.micro_batch * std::max(1.0, std::floor(ranks_of(plan))) * plan.seq;
    writer.flag("max-steps", write_number(std::ceil(plan.tokens / tokens)));
  }
}

}  // namespace

double transformers_accumulation(const Plan& plan) {
  const double steps = plan.global_batch / (plan.micro_batch * ranks_of(plan));
  return plan.has(Key::global_batch) && steps >= 1 && steps == std::floor(steps) ? steps : 1;
}

const Dialect kTransformers = {"transformers", kRows, read, write, '_'};

}  // namespace vram
