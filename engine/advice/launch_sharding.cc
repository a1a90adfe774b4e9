#include "engine/advice/launch_sharding.h"

#include <string_view>
#include <utility>

#include "engine/advice/launch_dialects.h"
#include "engine/text.h"
#include "engine/units.h"

// deepspeed/runtime/config.py and zero/config.py; accelerate/commands/launch.py and utils/dataclasses.py.
namespace vram {
namespace {

constexpr FlagRow kDeepspeed[] = {
    {Key::zero, "zero-optimization.stage zero-stage deepspeed-config.zero-stage", "", "0"},
    {Key::tp, "tensor-parallel.autotp-size", "", "1"},
};

bool says(GivenFlags& given, std::string_view names, std::string_view value) {
  const GivenFlag* flag = given.find(names);
  if (flag == nullptr) return false;
  std::string lower(flag->value);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower.find(value) != std::string::npos;
}

bool begins(const GivenFlags& given, std::string_view prefix) {
  for (const GivenFlag& flag : given.flags) {
    if (flag.name.starts_with(prefix)) return true;
  }
  return false;
}

bool uses_deepspeed(GivenFlags& given) {
  return given.has("use-deepspeed deepspeed deepspeed-config deepspeed-config-file") ||
         begins(given, "zero-optimization") || begins(given, "train-micro-batch-size-per-gpu") ||
         begins(given, "train-batch-size") || begins(given, "deepspeed-config.") ||
         says(given, "distributed-type", "deepspeed");
}

bool uses_fsdp(GivenFlags& given) {
  return given.has("use-fsdp fsdp") || begins(given, "fsdp-config.") || says(given, "distributed-type", "fsdp");
}

/// "ds_z3_config.json", "zero2_offload.json", "stage3.json" -> the digit; '\0' where a file's name says none.
char stage_in_name(std::string_view file) {
  const std::string name = lower_case(file.substr(file.find_last_of("/\\") + 1));
  for (const std::string_view word : {"zero", "stage", "z"}) {
    for (size_t at = name.find(word); at != std::string::npos; at = name.find(word, at + 1)) {
      size_t digit = at + word.size();
      if (digit < name.size() && (name[digit] == '_' || name[digit] == '-' || name[digit] == 'o')) ++digit;
      if (digit < name.size() && name[digit] >= '0' && name[digit] <= '3') return name[digit];
    }
  }
  return '\0';
}

bool is_host(const std::string& device) { return device == "cpu" || device == "nvme"; }

void read_deepspeed(LaunchReader& reader, GivenFlags& given) {
  reader.set(Key::framework, "deepspeed", "DeepSpeed");
  const std::string file = given.value("deepspeed deepspeed-config deepspeed-config-file");
  const bool is_file = file.find(".json") != std::string::npos || file.find(".yaml") != std::string::npos;
  const bool unseen = is_file && !begins(given, "zero-optimization");
  if (unseen) {
    const char stage = stage_in_name(file);
    if (stage != '\0') reader.set(Key::zero, std::string_view(&stage, 1), file);
    reader.resolve_now();
    return reader.note(Key::zero, file,
                       "what " + file + " says is not in the text; " + value_text(reader.plan(), Key::zero) +
                           (stage != '\0' ? " is taken, as it is called" : " is kept"));
  }
  reader.read_table(kDeepspeed, given);
  const std::string states = given.value(
      "zero-optimization.offload-optimizer.device offload-optimizer-device "
      "deepspeed-config.offload-optimizer-device");
  const std::string weights = given.value(
      "zero-optimization.offload-param.device offload-param-device "
      "deepspeed-config.offload-param-device");
  const bool old = says(given, "zero-optimization.cpu-offload", "true");
  // accelerate's configurations for lower stages have the flag, too.
  const bool unshared = says(given, "zero3-init-flag deepspeed-config.zero3-init-flag", "false");
  if (unshared && given.value(kDeepspeed[0].names) == "3") reader.set(Key::load_whole, "1", "zero3_init_flag");
  if (is_host(weights)) {
    reader.set(Key::offload, "all", "offload_param");
  } else if (is_host(states) || old) {
    reader.set(Key::offload, "optimizer", "offload_optimizer");
  }
  for (const std::string& device : {states, weights}) {
    if (device == "nvme") reader.note(Key::offload, "nvme", "nvme is taken for host memory");
  }
}

constexpr std::string_view kStrategy = "fsdp-sharding-strategy fsdp-config.fsdp-sharding-strategy fsdp",
                           kVersion = "fsdp-version fsdp-config.fsdp-version",
                           kReshard = "fsdp-reshard-after-forward fsdp-config.fsdp-reshard-after-forward",
                           kOffload = "fsdp-offload-params fsdp-config.fsdp-offload-params",
                           kCheckpointing = "fsdp-activation-checkpointing fsdp-config.fsdp-activation-checkpointing";

void read_fsdp(LaunchReader& reader, GivenFlags& given) {
  const bool second = given.value(kVersion) == "2";
  const GivenFlag* flag = given.find("use-fsdp fsdp distributed-type");
  reader.set(Key::framework, second ? "fsdp2" : "fsdp", flag != nullptr ? flag->text : "fsdp");
  reader.set(Key::library, "hf");
  const bool grads_only = says(given, kStrategy, "shard_grad_op") || says(given, kReshard, "false") ||
                          given.value("fsdp-sharding-strategy") == "2";
  const bool nothing = says(given, kStrategy, "no_shard");
  reader.set(Key::zero, nothing ? "0" : grads_only ? "2" : "3");
  if (says(given, kStrategy, "hybrid")) {
    reader.resolve_now();
    reader.set(Key::shard, write_number(reader.plan().node), "HYBRID_SHARD");
  }
  if (says(given, kOffload, "true") || says(given, "fsdp", "offload"))
    reader.set(Key::offload, "all", "fsdp_offload_params");
  if (says(given, kCheckpointing, "true")) reader.set(Key::recompute, "full", "fsdp_activation_checkpointing");
}

std::string json_pair(const char* name, const std::string& value) { return std::string("\"") + name + "\": " + value; }

std::string offload_members(const Plan& plan) {
  std::string out;
  if (plan.offload == Offload::optimizer || plan.offload == Offload::all) {
    out += ",\n    \"offload_optimizer\": {\"device\": \"cpu\", \"pin_memory\": true}";
  }
  if (plan.offload == Offload::all) out += ",\n    \"offload_param\": {\"device\": \"cpu\", \"pin_memory\": true}";
  return out;
}

void write_accelerate_fsdp(LaunchWriter& writer) {
  const Plan& plan = writer.plan();
  writer.flag("use-fsdp");
  const bool second = plan.framework == Framework::fsdp2;
  const bool grouped = plan.has(Key::shard) && plan.shard == plan.node && plan.zero == 3 && !second;
  if (plan.zero != 1) writer.said({Key::zero});
  if (grouped) writer.said({Key::shard});
  if (second) {
    writer.flag("fsdp-version", "2");
    writer.flag("fsdp-reshard-after-forward", plan.zero < 3 ? "false" : "true");
  } else {
    const char* strategy = plan.zero == 0 ? "NO_SHARD" : plan.zero < 3 ? "SHARD_GRAD_OP" : "FULL_SHARD";
    writer.flag("fsdp-sharding-strategy", grouped ? "HYBRID_SHARD" : strategy);
  }
  writer.flag("fsdp-auto-wrap-policy", "TRANSFORMER_BASED_WRAP");
  if (plan.offload == Offload::all) writer.flag("fsdp-offload-params", "true");
  if (plan.offload == Offload::all || plan.offload == Offload::none) writer.said({Key::offload});
}

}  // namespace

void read_sharding(LaunchReader& reader, GivenFlags& given) {
  for (const Key key : {Key::library, Key::shard, Key::offload, Key::offload_fraction}) reader.clear(key);
  if (uses_deepspeed(given)) return read_deepspeed(reader, given);
  if (uses_fsdp(given)) return read_fsdp(reader, given);
  reader.set(Key::framework, "ddp");
  reader.clear(Key::zero);
}

void read_state_files(LaunchReader& reader, GivenFlags& given) {
  const std::string gradients = given.value("data-types.grad-accum-dtype");
  for (const char* word : {"fp32", "bf16", "fp16"}) {
    if (gradients == word) reader.set(Key::grad_dtype, word, "grad_accum_dtype");
  }
}

std::string write_training_launcher(LaunchWriter& writer) {
  const Plan& plan = writer.plan();
  const bool fsdp = plan.framework == Framework::fsdp || plan.framework == Framework::fsdp2;
  writer.said({Key::framework, Key::library});
  if (plan.framework == Framework::deepspeed) {
    write_gpu_count(writer, "num-nodes", "num-gpus");
    return "deepspeed";
  }
  if (!fsdp) {
    write_gpu_count(writer, "nnodes", "nproc-per-node");
    return "torchrun";
  }
  writer.said({Key::gpus, Key::node});
  const bool whole_nodes = plan.gpus > plan.node &&
                           plan.gpus == plan.node * static_cast<double>(static_cast<int64_t>(plan.gpus / plan.node));
  if (whole_nodes) writer.flag("num-machines", write_number(plan.gpus / plan.node));
  writer.flag("num-processes", write_number(plan.gpus));
  if (plan.precision == Precision::fp8) writer.flag("mixed-precision", "fp8");
  write_accelerate_fsdp(writer);
  return "accelerate launch";
}

std::string write_deepspeed_file(LaunchWriter& writer, double accumulation) {
  const Plan& plan = writer.plan();
  writer.said({Key::zero, Key::grad_dtype, Key::tp});
  if (plan.offload != Offload::activations) writer.said({Key::offload});
  std::string out = "{\n  " + json_pair("train_micro_batch_size_per_gpu", write_number(plan.micro_batch));
  out += ",\n  " + json_pair("gradient_accumulation_steps", write_number(accumulation));
  if (plan.precision == Precision::bf16) out += ",\n  \"bf16\": {\"enabled\": true}";
  if (plan.precision == Precision::fp16) out += ",\n  \"fp16\": {\"enabled\": true}";
  if (plan.has(Key::grad_dtype)) {
    out += ",\n  \"data_types\": {\"grad_accum_dtype\": \"" + value_text(plan, Key::grad_dtype) + "\"}";
  }
  if (plan.tp > 1) out += ",\n  \"tensor_parallel\": {\"autotp_size\": " + write_number(plan.tp) + "}";
  out += ",\n  \"zero_optimization\": {\n    " + json_pair("stage", write_number(plan.zero)) + offload_members(plan);
  return out + "\n  }\n}\n";
}

}  // namespace vram
