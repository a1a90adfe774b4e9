#include <algorithm>

#include "engine/advice/launch_dialects.h"
#include "engine/advice/launch_sharding.h"
#include "engine/advice/launch_shell.h"
#include "engine/plan/percent.h"
#include "engine/units.h"

namespace vram {
namespace {

std::string comment_lines(const std::vector<std::string>& comments) {
  std::string out;
  for (const std::string& comment : comments) out += "# " + one_line(comment) + "\n";
  return out;
}

/// "program \" and a flag a line.
std::string command_text(const std::string& program, const std::vector<std::string>& flags) {
  std::string out = program;
  for (const std::string& flag : flags) out += " \\\n  " + flag;
  return out + "\n";
}

/// Keys of a group that are given, and that no flag said.
void comment_unsaid(LaunchWriter& writer, std::initializer_list<Group> groups) {
  for (const Field& row : fields()) {
    const bool concerns = std::find(groups.begin(), groups.end(), row.group) != groups.end();
    if (!concerns || !writer.plan().has(row.key) || writer.is_said(row.key)) continue;
    writer.comment("no flag says " + std::string(row.name) + "=" + value_text(writer.plan(), row.key));
  }
}

const Dialect* dialect_of(Engine engine) {
  switch (engine) {
    case Engine::vllm:
      return &kVllm;
    case Engine::sglang:
      return &kSglang;
    case Engine::trtllm:
      return &kTrtllm;
    case Engine::llamacpp:
      return &kLlamacpp;
    default:
      return nullptr;
  }
}

/// "llama-3.1-8b-Q4_K_M.gguf": the format of the weights stands in the name of the file.
std::string gguf_name(const Plan& plan) {
  std::string format = plan.weights;
  for (char& c : format) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return (plan.model == "custom" ? "model" : plan.model) + "-" + format + ".gguf";
}

std::string server_program(const Plan& plan) {
  const std::string name = model_name_of(plan), model = shell_word(name.empty() ? "path/to/model" : name);
  switch (plan.engine) {
    case Engine::vllm:
      return "vllm serve " + model;
    case Engine::sglang:
      return "python -m sglang.launch_server --model-path " + model;
    case Engine::trtllm:
      return "trtllm-serve " + model;
    default:
      return "llama-server --model " + shell_word(gguf_name(plan));
  }
}

std::string serving_script(const Plan& plan) {
  const Dialect* dialect = dialect_of(plan.engine);
  const std::string head = "# Serving: one replica\n";
  if (dialect == nullptr)
    return head + "# engine=" + value_text(plan, Key::engine) + " is no program that could be started\n";
  LaunchWriter writer(plan);
  writer.between_words = dialect->between_words;
  writer.said({Key::model, Key::engine});
  writer.write_table(dialect->rows);
  dialect->write(writer);
  if (plan.model == "custom") writer.comment("the model has no name: put its path in the place of path/to/model");
  comment_unsaid(writer, {Group::serving});
  return head + comment_lines(writer.comments) + command_text(server_program(plan), writer.flags);
}

const Dialect& dialect_of_training(const Plan& plan) {
  if (plan.framework == Framework::megatron) return kMegatron;
  const bool titan = plan.framework == Framework::fsdp2 && plan.library == Library::torchtitan;
  return titan ? kTorchtitan : kTransformers;
}

/// PyTorch's allocator is told in the environment.
std::string environment(LaunchWriter& writer) {
  writer.said({Key::allocator});
  return writer.plan().allocator == Allocator::expandable ? "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True " : "";
}

std::string training_script(const Plan& plan) {
  const Dialect& dialect = dialect_of_training(plan);
  LaunchWriter launcher(plan), writer(plan);
  launcher.between_words = '_';
  writer.between_words = dialect.between_words;
  std::string program, document, script = "train.py";
  if (&dialect == &kTransformers) {
    program = write_training_launcher(launcher);
    if (plan.framework == Framework::deepspeed) {
      writer.flag("deepspeed", "ds_config.json");
      document =
          "cat > ds_config.json <<'EOF'\n" + write_deepspeed_file(launcher, transformers_accumulation(plan)) + "EOF\n";
    }
  } else {
    program = "torchrun";
    write_gpu_count(launcher, "nnodes", "nproc-per-node");
    script = &dialect == &kMegatron ? "pretrain_gpt.py" : "-m torchtitan.train";
  }
  writer.write_table(dialect.rows);
  dialect.write(writer);
  for (const Field& row : fields()) {
    if (launcher.is_said(row.key)) writer.said({row.key});
  }
  const std::string before = environment(writer);
  comment_unsaid(writer, {Group::model, Group::training});
  std::vector<std::string> flags = launcher.flags;
  flags.push_back(script);
  flags.insert(flags.end(), writer.flags.begin(), writer.flags.end());
  return "# Training\n" + comment_lines(writer.comments) + document + command_text(before + program, flags);
}

}  // namespace

std::string write_launch(const Plan& plan) {
  const std::string head = "# " + one_line(write_plan(plan, false)) + "\n";
  const std::string training = training_script(plan), serving = serving_script(plan);
  return head + "\n" + (plan.view == View::serve ? serving + "\n" + training : training + "\n" + serving);
}

}  // namespace vram
