#include "engine/advice/diagnose/settings.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/advice/diagnose/case.h"
#include "engine/advice/launch_flags.h"
#include "engine/hardware/accelerator.h"
#include "engine/preset_table.h"
#include "engine/text.h"
#include "engine/units.h"

namespace vram {
namespace {

struct Row {
  const char* tool;
  const char* what;
  Key key;
};

constexpr Row kRows[] = {{"vLLM", "utilization", Key::utilization},
                         {"vLLM", "max_model_len", Key::max_len},
                         {"vLLM", "tensor_parallel", Key::serve_tp},
                         {"vLLM", "pipeline_parallel", Key::serve_pp},
                         {"vLLM", "batch_tokens", Key::batch_tokens},
                         {"vLLM", "max_num_seqs", Key::max_seqs},
                         {"SGLang", "mem_fraction", Key::utilization},
                         {"SGLang", "tensor_parallel", Key::serve_tp},
                         {"SGLang", "pipeline_parallel", Key::serve_pp},
                         {"SGLang", "max_model_len", Key::max_len},
                         {"SGLang", "max_running_requests", Key::max_seqs},
                         {"SGLang", "chunked_prefill_size", Key::batch_tokens},
                         {"TensorRT-LLM", "kv_fraction", Key::utilization},
                         {"TensorRT-LLM", "block_tokens", Key::block},
                         {"TensorRT-LLM", "max_model_len", Key::max_len},
                         {"TensorRT-LLM", "max_running_requests", Key::max_seqs},
                         {"TensorRT-LLM", "batch_tokens", Key::batch_tokens},
                         {"TGI", "max_model_len", Key::max_len},
                         {"TGI", "tensor_parallel", Key::serve_tp},
                         {"Ollama", "n_ctx", Key::max_len},
                         {"Ollama", "layers_offloaded", Key::gpu_layers},
                         {"llama.cpp", "n_ctx", Key::max_len},
                         {"llama.cpp", "n_ubatch", Key::ubatch},
                         {"llama.cpp", "layers_offloaded", Key::gpu_layers},
                         {"llama.cpp", "n_cpu_moe", Key::n_cpu_moe},
                         {"Megatron-LM", "world_size", Key::gpus},
                         {"Megatron-LM", "tensor_parallel", Key::tp},
                         {"Megatron-LM", "pipeline_parallel", Key::pp},
                         {"Megatron-LM", "context_parallel", Key::cp},
                         {"Megatron-LM", "expert_parallel", Key::ep},
                         {"Megatron-LM", "seq", Key::seq},
                         {"Megatron-LM", "micro_batch", Key::micro_batch},
                         {"Megatron-LM", "global_batch", Key::global_batch},
                         {"DeepSpeed", "zero_stage", Key::zero},
                         {"DeepSpeed", "micro_batch", Key::micro_batch},
                         {"torchtitan", "micro_batch", Key::micro_batch},
                         {"torchtitan", "global_batch", Key::global_batch},
                         {"torchtitan", "seq", Key::seq},
                         {"Unsloth", "micro_batch", Key::micro_batch},
                         {"Unsloth", "global_batch", Key::global_batch},
                         {"Unsloth", "gpus", Key::gpus}};

/// The tool itself says which framework or engine runs.
struct Tool {
  const char* tool;
  Key key;
  const char* value;
};

constexpr Tool kTools[] = {{"vLLM", Key::engine, "vllm"},
                           {"SGLang", Key::engine, "sglang"},
                           {"TensorRT-LLM", Key::engine, "trtllm"},
                           {"llama.cpp", Key::engine, "llamacpp"},
                           {"Ollama", Key::engine, "llamacpp"},
                           {"Megatron-LM", Key::framework, "megatron"},
                           {"DeepSpeed", Key::framework, "deepspeed"},
                           {"torchtitan", Key::framework, "fsdp2"}};

std::string compact(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_alphanumeric(c)) {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

std::vector<std::string> words_in(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (is_alphanumeric(c)) {
      words.back() += compact(std::string_view(&c, 1));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

/// The first word with a digit: "h100", "4090", "mi300x".
std::string stem_of(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.find_first_of("0123456789") != std::string::npos) return word;
  }
  return "";
}

/// Words that the id has, too: "sxm4", "80gb".
size_t words_within(const std::vector<std::string>& words, const std::string& id) {
  return static_cast<size_t>(std::count_if(words.begin(), words.end(), [&](const std::string& word) {
    return word.size() > 1 && id.find(word) != std::string::npos;
  }));
}

using Stated = std::map<Key, std::string>;

/// A setting that is a word.
constexpr Row kWords[] = {{"vLLM", "engine_version", Key::engine_version},
                          {"vLLM", "kv_type", Key::kv},
                          {"llama.cpp", "k_type", Key::kv},
                          {"llama.cpp", "v_type", Key::kv_values},
                          {"llama.cpp", "file_type", Key::weights}};

/// "v0.11.0" is 0.11.0, "f16" fp16, "Q4_K - Medium" q4_k_m (llama.cpp, llama_model_ftype_name).
std::string our_word(std::string_view theirs) {
  std::string word = lower_case(theirs);
  if (word.size() > 1 && word[0] == 'v' && is_digit(word[1])) return word.substr(1);
  if (word == "f16" || word == "f32") return "fp" + word.substr(1);
  if (word.starts_with("fp8")) return "fp8";  // fp8_e4m3
  const size_t dash = word.find(" - ");
  if (dash == std::string::npos) return word.substr(0, word.find(' '));
  const std::string_view size = std::string_view(word).substr(dash + 3);
  const bool sized = size.starts_with("small") || size.starts_with("medium") || size.starts_with("large");
  return word.substr(0, dash) + (sized ? std::string("_") + size[0] : "");
}

void add_named(const LogReading& log, Stated& out) {
  std::string gpu;
  double memory = 0;
  for (const LogFigure& figure : log.figures) {
    const std::string model = figure.what == "model_name" ? preset_of_model_name(figure.text) : "";
    if (!model.empty()) {
      out[Key::model] = model;
      if (const std::string format = format_in_name(figure.text); !format.empty()) out[Key::weights] = format;
    }
    if (figure.what == "gpu_name") gpu = figure.text;
    if (figure.what == "capacity_bytes" || figure.what == "total_bytes") memory = static_cast<double>(figure.bytes);
  }
  const std::string found = gpu_of_name(gpu, memory);
  if (!found.empty()) out[Key::gpu] = found;
}

/// What it was started with, and what its launcher does without a flag where the log says nothing else.
void add_started_with(const LogReading& log, Plan plan, Stated& out, Stated& usual) {
  if (log.command.empty()) return;
  for (const auto& [key, value] : out) set_value(plan, key, value, nullptr);
  const auto release = out.find(Key::engine_version);
  const std::string version = release != out.end() ? " --image-version " + release->second : "";
  const LaunchReading launch = read_launch(log.command + version, plan);
  if (launch.programs.empty()) return;
  const bool unknown = launch.plan.model == "custom" && !launch.plan.has(Key::layers);
  for (const Field& row : fields()) {
    if (row.group == Group::view || row.group == Group::hardware) continue;  // nodes of a job that flags do not name
    if (row.key == Key::model && unknown) continue;
    if (launch.plan.has(row.key)) usual.emplace(row.key, value_text(launch.plan, row.key));
  }
  for (const LaunchSetting& setting : launch.settings) {
    if (setting.key != Key::model || !unknown) out[setting.key] = value_text(launch.plan, setting.key);
  }
}

/// llama.cpp prints the cells of each of its caches: that of a sliding window is no context.
bool smaller_window(const LogFigure& figure, std::string_view stated) {
  const bool cells = figure.what == "n_ctx" && std::string_view(figure.tool) == "llama.cpp";
  return cells && figure.number < read_number(stated).value_or(0);
}

}  // namespace

std::string gpu_of_name(std::string_view name, double memory_bytes) {
  const std::vector<std::string> given = words_in(name);
  const std::string stem = stem_of(given);
  if (stem.size() < 2) return "";
  std::string best;
  size_t most_words = 0;
  double nearest = kOtherCard;
  for (const PresetRow& row : hardware_presets()) {
    const std::string id = compact(row.id);
    if (id.find(stem) == std::string::npos) continue;
    if (id.find("pcie") != std::string::npos && compact(name).find("pcie") == std::string::npos)
      continue;  // drivers say so
    const auto sheet = find_accelerator(row.id);
    if (!sheet || memory_bytes <= 0) continue;
    const double off = std::fabs(sheet->memory_bytes / memory_bytes - 1);
    const size_t words = words_within(given, id);
    if (off >= kOtherCard || words < most_words || (words == most_words && off >= nearest)) continue;
    most_words = words;
    nearest = off;
    best = row.id;
  }
  return best;
}

bool is_engine_of_plan(std::string_view tool) {
  return std::any_of(std::begin(kTools), std::end(kTools),
                     [&](const Tool& row) { return row.key == Key::engine && tool == row.tool; });
}

std::vector<StatedSetting> stated_settings(const LogReading& log, const Plan& plan) {
  Stated stated, usual;
  for (const Tool& tool : kTools) {
    if (std::string_view(log.program) == tool.tool) stated[tool.key] = tool.value;
  }
  for (const LogFigure& figure : log.figures) {
    for (const Tool& tool : kTools) {
      if (std::string_view(figure.tool) == tool.tool) stated[tool.key] = tool.value;
    }
    for (const Row& row : kWords) {
      if (std::string_view(figure.tool) == row.tool && figure.what == row.what) stated[row.key] = our_word(figure.text);
    }
    if (figure.kind != CaptureKind::number || !(figure.number > 0)) continue;
    for (const Row& row : kRows) {
      if (std::string_view(figure.tool) != row.tool || figure.what != row.what) continue;
      if (smaller_window(figure, stated[row.key])) continue;
      stated[row.key] = write_number(std::round(figure.number * 1e4) / 1e4);  // float32 printed long
    }
  }
  add_named(log, stated);
  add_started_with(log, plan, stated, usual);
  std::vector<StatedSetting> settings;
  for (const Field& row : fields()) {
    const auto printed = stated.find(row.key), otherwise = usual.find(row.key);
    if (printed != stated.end()) {
      settings.push_back({row.key, printed->second, true});
    } else if (otherwise != usual.end()) {
      settings.push_back({row.key, otherwise->second, false});
    }
  }
  return settings;
}

}  // namespace vram
