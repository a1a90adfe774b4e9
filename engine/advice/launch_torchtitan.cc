#include <algorithm>

#include "engine/advice/launch_dialects.h"
#include "engine/units.h"

// torchtitan/config: dotted flags, or sections of a TOML file; names and defaults.
namespace vram {
namespace {

constexpr FlagRow kRows[] = {
    {Key::framework, "", "", "fsdp2"},
    {Key::library, "", "", "torchtitan"},
    {Key::method, "", "", "full"},
    {Key::optimizer, "optimizer.name", "AdamW=adamw Adam=adamw Muon=muon", "adamw"},
    {Key::fused_optimizer, "optimizer.implementation", "fused=1 foreach=0 for-loop=0", "1"},
    {Key::optimizer_in_backward, "optimizer.early-step-in-backward", "=1 true=1 false=0", "0"},
    {Key::tp, "parallelism.tensor-parallel-degree experimental.tensor-parallel-degree", "", "1"},
    {Key::pp, "parallelism.pipeline-parallel-degree experimental.pipeline-parallel-degree", "", "1"},
    {Key::cp, "parallelism.context-parallel-degree experimental.context-parallel-degree", "", "1"},
    {Key::ep, "parallelism.expert-parallel-degree", "", "1"},
    {Key::etp, "parallelism.expert-tensor-parallel-degree", "", ""},
    {Key::seq, "training.seq-len", "", "2048"},
    {Key::compile, "compile.enable training.compile", "=1 true=1 false=0", "0"},
    {Key::offload, "training.enable-cpu-offload", "=all true=all false=none", "none"},
    {Key::recompute, "activation-checkpoint.mode", "none=none selective=selective full=full", "selective"},
};

// Flavors of torchtitan/models/*/config_registry.py.
struct Flavor {
  const char* preset;
  const char* name;
  const char* flavor;
};
constexpr Flavor kFlavors[] = {
    {"llama-3.1-8b", "llama3", "8B"},
    {"llama-3.1-70b", "llama3", "70B"},
    {"llama-3.1-405b", "llama3", "405B"},
    {"llama-4-scout-17b-16e", "llama4", "17bx16e"},
    {"llama-4-maverick-17b-128e", "llama4", "17bx128e"},
    {"deepseek-v2-lite", "deepseek_v3", "16B"},
    {"deepseek-v3", "deepseek_v3", "671B"},
    {"qwen3-0.6b", "qwen3", "0.6B"},
    {"qwen3-1.7b", "qwen3", "1.7B"},
    {"qwen3-4b", "qwen3", "4B"},
    {"qwen3-8b", "qwen3", "8B"},
    {"qwen3-14b", "qwen3", "14B"},
    {"qwen3-32b", "qwen3", "32B"},
};

void read_model(LaunchReader& reader, GivenFlags& given) {
  const std::string name = given.value("model.name"), flavor = given.value("model.flavor");
  const GivenFlag* assets = given.find("model.hf-assets-path model.tokenizer-path");
  for (const Flavor& known : kFlavors) {
    if (name == known.name && flavor == known.flavor) {
      return reader.read_model(known.preset, "--model.flavor " + flavor);
    }
  }
  if (assets != nullptr && (flavor.empty() || !preset_of_model_name(assets->value).empty())) {
    return reader.read_model(assets->value, assets->text);
  }
  if (!name.empty() || !flavor.empty()) reader.read_model(name + " " + flavor, "--model.flavor");
}

void read_precision(LaunchReader& reader, GivenFlags& given) {
  const std::string converters = given.value("model.converters");
  const std::string stored = given.value("training.dtype"), computed = given.value("training.mixed-precision-param");
  for (const Key key : {Key::grad_dtype, Key::moments, Key::residual}) reader.clear(key);
  const GivenFlag* flag = given.find("model.converters");
  if (converters.find("mx") != std::string::npos) return reader.set(Key::precision, "mxfp8", flag->text);
  if (converters.find("float8") != std::string::npos) return reader.set(Key::precision, "fp8", flag->text);
  if (stored == "bfloat16") return reader.set(Key::precision, "bf16-pure", "--training.dtype bfloat16");
  reader.set(Key::precision, computed == "float32" ? "fp32" : "bf16");
}

void write_precision(LaunchWriter& writer) {
  const Precision precision = writer.plan().precision;
  const bool none = precision == Precision::fp16 || precision == Precision::fp16_pure || precision == Precision::nvfp4;
  if (none) return;
  writer.said({Key::precision});
  if (precision == Precision::bf16_pure) writer.flag("training.dtype", "bfloat16");
  if (precision == Precision::fp32) writer.flag("training.mixed-precision-param", "float32");
  if (precision == Precision::fp8) writer.flag("model.converters", "float8");
  if (precision == Precision::mxfp8) writer.flag("model.converters", "mx");
}

void read_schedule(LaunchReader& reader, GivenFlags& given) {
  for (const Key key : {Key::vpp, Key::schedule, Key::stages}) reader.clear(key);
  const GivenFlag* flag = given.find("parallelism.pipeline-parallel-schedule");
  if (flag == nullptr) return;
  const std::string& name = flag->value;
  const char* ours = name == "1F1B"                                 ? "1f1b"
                     : name == "GPipe"                              ? "gpipe"
                     : name == "Interleaved1F1B"                    ? "interleaved"
                     : name == "DualPipeV"                          ? "dualpipe"
                     : name.find("ZeroBubble") != std::string::npos ? "zerobubble"
                     : name == "ZBVZeroBubble"                      ? "zerobubble"
                                                                    : "";
  if (*ours == '\0') return reader.note(Key::schedule, name, "'" + name + "' is not modelled");
  reader.set(Key::schedule, ours, flag->text);
  if (name == "Interleaved1F1B") reader.set(Key::vpp, "2");  // two stages a rank where nothing else is said
}

void write_schedule(LaunchWriter& writer) {
  const Plan& plan = writer.plan();
  constexpr const char* kNames[] = {"1F1B", "GPipe", "Interleaved1F1B", "InterleavedZeroBubble", "DualPipeV"};
  writer.said({Key::schedule});
  const bool usual = plan.vpp == (plan.schedule == Schedule::interleaved ? 2 : 1);
  if (usual) writer.said({Key::vpp});
  if (plan.schedule != Schedule::one_f_one_b) {
    writer.flag("parallelism.pipeline-parallel-schedule", kNames[static_cast<size_t>(plan.schedule)]);
  }
}

/// Weights lie whole on every replica, and cut over the ranks of a shard and of context parallelism.
void read_sharding_degrees(LaunchReader& reader, GivenFlags& given) {
  for (const Key key : {Key::zero, Key::shard, Key::sp}) reader.clear(key);
  const double replicas = given.number("parallelism.data-parallel-replicate-degree", 1);
  const GivenFlag* shard = given.find("parallelism.data-parallel-shard-degree training.data-parallel-shard-degree");
  reader.resolve_now();
  const Plan& plan = reader.plan();
  const bool never = given.value("parallelism.fsdp-reshard-after-forward") == "never";
  if (never) reader.set(Key::zero, "2", "--parallelism.fsdp_reshard_after_forward never");
  if (plan.tp > 1) reader.set(Key::sp, given.value("parallelism.enable-sequence-parallel") == "false" ? "0" : "1");
  if (shard != nullptr && shard->value == "1" && replicas > 1) return reader.set(Key::zero, "0", shard->text);
  if (replicas > 1) {
    const double ranks = plan.gpus / (plan.tp * plan.pp) / replicas;
    reader.set(Key::shard, write_number(std::max(1.0, ranks)), "--parallelism.data_parallel_replicate_degree");
  }
}

void write_sharding_degrees(LaunchWriter& writer) {
  const Plan& plan = writer.plan();
  const double ranks = plan.gpus / (plan.tp * plan.pp);
  const bool whole =
      plan.shard >= 1 && ranks / plan.shard == static_cast<double>(static_cast<int64_t>(ranks / plan.shard));
  if (plan.zero == 2 || plan.zero == 3 || plan.zero == 0) writer.said({Key::zero});
  if (plan.zero == 2) writer.flag("parallelism.fsdp-reshard-after-forward", "never");
  if (plan.zero == 0 && ranks > 1) {
    writer.flag("parallelism.data-parallel-replicate-degree", write_number(ranks));
    writer.flag("parallelism.data-parallel-shard-degree", "1");
  } else if (plan.has(Key::shard) && whole && ranks > plan.shard) {
    writer.said({Key::shard});
    writer.flag("parallelism.data-parallel-replicate-degree", write_number(ranks / plan.shard));
  }
  if (plan.sp == (plan.tp > 1)) writer.said({Key::sp});
  if (plan.tp > 1 && !plan.sp) {
    writer.said({Key::sp});
    writer.flag("parallelism.enable-sequence-parallel", "false");
  }
}

void read_batch(LaunchReader& reader, GivenFlags& given) {
  reader.resolve_now();
  const bool stages = reader.plan().pp > 1;
  const GivenFlag* local = given.find("training.local-batch-size training.batch-size");
  const double sequences = given.number("training.local-batch-size training.batch-size", 8);
  const double micro = stages ? given.number("parallelism.pipeline-parallel-microbatch-size", 1) : sequences;
  reader.set(Key::micro_batch, write_number(micro), local != nullptr ? local->text : "");
  reader.clear(Key::global_batch);
  const GivenFlag* whole = given.find("training.global-batch-size");
  if (whole != nullptr && given.number("training.global-batch-size", 0) > 0) {
    reader.set(Key::global_batch, whole->value, whole->text);
  } else {
    read_accumulation(reader, micro, sequences / micro);
  }
  read_steps(reader, given.number("training.steps", 0));
}

void write_batch(LaunchWriter& writer) {
  const Plan& plan = writer.plan();
  writer.said({Key::micro_batch, Key::global_batch});
  const double local = plan.pp > 1 ? plan.micro_batch * accumulation_of(plan) : plan.micro_batch;
  writer.flag("training.local-batch-size", write_number(local));
  if (plan.pp > 1) writer.flag("parallelism.pipeline-parallel-microbatch-size", write_number(plan.micro_batch));
  if (plan.has(Key::global_batch)) writer.flag("training.global-batch-size", write_number(plan.global_batch));
  if (plan.tokens <= 0) return;
  writer.said({Key::tokens});
  writer.flag("training.steps", write_number(steps_of(plan)));
}

void read(LaunchReader& reader, GivenFlags& given) {
  read_model(reader, given);
  read_gpu_count(reader, given);
  read_precision(reader, given);
  read_schedule(reader, given);
  read_sharding_degrees(reader, given);
  read_batch(reader, given);
}

void write(LaunchWriter& writer) {
  const Plan& plan = writer.plan();
  writer.said({Key::model});
  const auto known = std::find_if(std::begin(kFlavors), std::end(kFlavors),
                                  [&](const Flavor& flavor) { return plan.model == flavor.preset; });
  if (known != std::end(kFlavors)) {
    writer.flag("model.name", known->name);
    writer.flag("model.flavor", known->flavor);
  } else {
    const std::string name = model_name_of(plan);
    writer.flag("model.hf-assets-path", name.empty() ? "path/to/model" : name);
    writer.comment("torchtitan has no flavor of this model");
  }
  write_precision(writer);
  write_schedule(writer);
  write_sharding_degrees(writer);
  write_batch(writer);
}

}  // namespace

const Dialect kTorchtitan = {"torchtitan", kRows, read, write, '_'};

}  // namespace vram
