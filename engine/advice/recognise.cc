#include "engine/advice/recognise.h"

#include <algorithm>

#include "engine/plan/percent.h"
#include "engine/plan/plan.h"
#include "engine/text.h"

namespace vram {
namespace {

template <size_t n>
bool holds_any(std::string_view text, const std::string_view (&words)[n]) {
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

/// One word whose first key is one of ours.
bool is_share(std::string_view text) {
  if (text.find_first_of(" \t\r\n") != std::string_view::npos) return false;
  std::string_view share = share_of_url(text);
  while (!share.empty() && (share[0] == '#' || share[0] == '?')) share.remove_prefix(1);
  const std::string_view first = share.substr(0, share.find('='));
  return share.size() > first.size() && (first == "v" || find_field(first) != nullptr);
}

constexpr std::string_view kProgramPrints[] = {"OutOfMemoryError",
                                               "out of memory",
                                               "Out of memory",
                                               "Traceback (most recent call last)",
                                               "NVIDIA-SMI",
                                               "PyTorch CUDA memory summary",
                                               "allocated_bytes.all",
                                               "INFO ",
                                               "ERROR ",
                                               "WARNING "};

constexpr std::string_view kConfigMembers[] = {"\"model_type\"", "\"architectures\"", "\"hidden_size\"", "\"n_embd\""};

constexpr std::string_view kDeepSpeedMembers[] = {"\"zero_optimization\"", "\"train_micro_batch_size_per_gpu\"",
                                                  "\"train_batch_size\"", "\"gradient_accumulation_steps\""};

// Programs and modules that start a run, and the sections of their configuration files.
constexpr std::string_view kLaunchers[] = {"vllm serve",
                                           "vllm.entrypoints",
                                           "vllm-openai",
                                           "llama.cpp:server",
                                           "llamafactory-cli",
                                           "srun ",
                                           "sglang.launch_server",
                                           "sglang serve",
                                           "llama-server",
                                           "llama-cli",
                                           "trtllm-serve",
                                           "trtllm-build",
                                           "OLLAMA_",
                                           "ollama ",
                                           "torchrun",
                                           "torch.distributed",
                                           "accelerate launch",
                                           "deepspeed ",
                                           "pretrain_",
                                           "torchtitan",
                                           "[parallelism]",
                                           "compute_environment:",
                                           "distributed_type:",
                                           "--num-layers",
                                           "--deepspeed",
                                           "--tensor-model-parallel-size",
                                           "--tensor-parallel-size",
                                           "--tp-size",
                                           "--per_device_train_batch_size",
                                           "--fsdp",
                                           "--model-path",
                                           "--model_name_or_path"};

}  // namespace

Pasted recognise(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return Pasted::nothing;
  if (is_share(text)) return Pasted::share;
  if (text[0] == '{') {
    if (holds_any(text, kConfigMembers)) return Pasted::config;
    if (holds_any(text, kDeepSpeedMembers)) return Pasted::launch;
    return holds_any(text, kProgramPrints) ? Pasted::log : Pasted::config;
  }
  if (holds_any(text, kProgramPrints)) return Pasted::log;
  return holds_any(text, kLaunchers) ? Pasted::launch : Pasted::unknown;
}

}  // namespace vram
