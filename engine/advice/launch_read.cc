#include <algorithm>

#include "engine/advice/launch_container.h"
#include "engine/advice/launch_dialects.h"
#include "engine/advice/launch_documents.h"
#include "engine/advice/launch_shell.h"
#include "engine/advice/launch_unread.h"
#include "engine/plan/percent.h"
#include "engine/text.h"
#include "engine/units.h"

namespace vram {
namespace {

constexpr size_t kShownBytes = 80, kMostBytes = size_t{1} << 20;
constexpr const Dialect* kDialects[] = {&kMegatron, &kTransformers, &kTorchtitan, &kVllm,
                                        &kSglang,   &kTrtllm,       &kLlamacpp};

std::string_view base_name(std::string_view word) {
  const size_t slash = word.find_last_of("/\\");
  std::string_view base = slash == std::string_view::npos ? word : word.substr(slash + 1);
  if (base.ends_with(".exe")) base.remove_suffix(4);
  return base;
}

bool is_aphrodite(std::string_view word) { return base_name(word).starts_with("aphrodite"); }

/// A program that is known: whose flags follow, and from which word on. Without a dialect: a launcher of a script.
struct Program {
  const Dialect* dialect = nullptr;
  size_t first = 0;  // word behind the program
  bool starts_script = false;
  bool is_image = false;  // of a container, whose entry point serves where no command follows
};

Program program_at(const std::vector<std::string>& words, size_t at) {
  const std::string_view word = words[at], base = base_name(word);
  const auto next_is = [&](std::string_view text) { return at + 1 < words.size() && words[at + 1] == text; };
  if (base == "vllm" && next_is("serve")) return {&kVllm, at + 2};
  if (word.starts_with("vllm.entrypoints")) return {&kVllm, at + 1};
  if (base == "aphrodite" && (next_is("run") || next_is("serve"))) return {&kVllm, at + 2};  // a fork
  if (word.starts_with("aphrodite.endpoints")) return {&kVllm, at + 1};
  if (word.starts_with("sglang.launch_server")) return {&kSglang, at + 1};
  if (base == "sglang" && next_is("serve")) return {&kSglang, at + 2};
  if (base == "trtllm-build") return {&kTrtllm, at + 1};
  if (base == "trtllm-serve") return {&kTrtllm, at + (next_is("serve") ? 2u : 1u)};
  if (base == "llama-server" || base == "llama-cli" || base == "llama-bench") return {&kLlamacpp, at + 1};
  if (base == "ollama" || base.starts_with("ollama:")) return {&kOllama, at + 1};
  if (base == "torchrun" || word == "torch.distributed.run" || word == "torch.distributed.launch")
    return {nullptr, at + 1, true};
  if (base == "accelerate" && next_is("launch")) return {nullptr, at + 2, true};
  if ((base == "deepspeed" || base == "srun" || base == "llamafactory-cli") && at == 0) return {nullptr, at + 1, true};
  if (base.starts_with("vllm-openai")) return {&kVllm, at + 1, false, true};
  if (base.starts_with("aphrodite-openai")) return {&kVllm, at + 1, false, true};
  if (base.starts_with("llama.cpp:")) return {&kLlamacpp, at + 1, false, true};
  return {};
}

/// The word of a command that is a training script: "pretrain_gpt.py", "torchtitan.train".
size_t script_of(const std::vector<std::string>& words, size_t from) {
  for (size_t i = from; i < words.size(); ++i) {
    if (words[i].ends_with(".py") || words[i].starts_with("torchtitan")) return i;
  }
  return words.size();
}

size_t known_flags(const std::vector<std::string>& words, const Dialect& dialect) {
  GivenFlags given = read_flags(words, {dialect.rows});
  size_t count = 0;
  for (const FlagRow& row : dialect.rows) count += given.has(row.names) ? 1 : 0;
  return count;
}

/// Whose flags these are: of a script by its name, else by the tables.
const Dialect* dialect_of_flags(const std::vector<std::string>& words, std::string_view script) {
  if (base_name(script).starts_with("pretrain_")) return &kMegatron;
  if (script.starts_with("torchtitan")) return &kTorchtitan;
  const Dialect* best = script.empty() ? nullptr : &kTransformers;
  size_t most = 0;
  for (const Dialect* dialect : kDialects) {
    const size_t count = known_flags(words, *dialect);
    if (count > most) best = dialect;
    most = std::max(most, count);
  }
  const bool trainer = best == &kMegatron || best == &kTransformers || best == &kTorchtitan;
  return script.empty() || trainer ? best : &kTransformers;
}

class ScriptReading {
 public:
  ScriptReading(const Plan& plan, LaunchReading& out) : out_(out), reader_(plan, out) {}

  void read(ShellScript script) {
    for (ShellCommand& command : script.commands) take_environment(command);
    for (const ShellDocument& document : script.documents) documents_.push_back(read_document(document.body));
    for (const ShellCommand& command : script.commands) {
      environment_ = command.environment;
      read_command(command);
    }
    if (out_.programs.empty()) {
      for (const FlatDocument& document : documents_) read_file(document);
    }
    read_environment(script);
    reader_.resolve_now();
  }

  /// A configuration file alone.
  void read_file(const FlatDocument& document) {
    GivenFlags given;
    add_document(document, given);
    const auto begins = [&](std::string_view prefix) {
      return std::any_of(given.flags.begin(), given.flags.end(),
                         [&](const GivenFlag& flag) { return flag.name.starts_with(prefix); });
    };
    if (begins("parallelism.") || begins("training.") || begins("activation-checkpoint.")) {
      finish(kTorchtitan, given);
    } else if (begins("kv-cache-config") || begins("enable-attention-dp")) {
      finish(kTrtllm, given);
    } else if (begins("zero-optimization") || begins("train-") || begins("gradient-accumulation") || begins("bf16") ||
               begins("fp16") || begins("distributed-type") || begins("fsdp-config") || begins("deepspeed-config") ||
               begins("per-device-train") || begins("model-name-or-path") || begins("num-processes")) {
      finish(kTransformers, given);
    }
    reader_.resolve_now();
  }

 private:
  static void add_document(const FlatDocument& document, GivenFlags& given) {
    for (const auto& [path, value] : document) given.add(path, value);
  }

  void read_command(const ShellCommand& command) {
    const std::vector<std::string>& words = command.words;
    Program image, launcher;  // what they start may follow
    for (size_t i = 0; i < words.size(); ++i) {
      const Program program = program_at(words, i);
      if (program.is_image) image = program;
      if (program.starts_script && launcher.first == 0) launcher = program;
      if (program.is_image || program.dialect == nullptr) continue;
      if (program.dialect == &kOllama) return read_ollama(words, program.first);
      if (launcher.first > 0) name_flags(words, launcher.first, i);
      return read_server(*program.dialect, words, program.first, version_in(image, words));
    }
    if (image.is_image) return read_server(*image.dialect, words, image.first, version_in(image, words));
    if (const std::string server = unread_server(words); !server.empty()) return name_unread(server);
    if (launcher.first > 0) return read_training(words, launcher.first);
    const size_t script = script_of(words, 0);
    const bool flags_alone = !words.empty() && words[0].starts_with("-");
    const bool shell_script = !words.empty() && words[0].ends_with(".sh");
    if (flags_alone || shell_script || script < words.size()) read_training(words, 0);
  }

  /// Beside a server that is read it would else be gone without a word.
  void name_unread(const std::string& server) {
    const auto is_named = [&](const Message& message) { return message.given == server; };
    if (std::any_of(out_.messages.begin(), out_.messages.end(), is_named)) return;
    reader_.note(Key::engine, server,
                 "the flags of " + server +
                     " are not read; those of vLLM, Aphrodite, SGLang, TensorRT-LLM, llama.cpp and Ollama are");
  }

  /// Of an image's tag: "vllm-openai:v0.11.0".
  static std::string version_in(const Program& image, const std::vector<std::string>& words) {
    if (image.first == 0) return "";
    const std::string& word = words[image.first - 1];
    if (is_aphrodite(word)) return "";  // has releases of its own
    const size_t tag = word.find(":v");
    if (tag == std::string::npos || tag + 2 >= word.size() || !is_digit(word[tag + 2])) return "";
    const std::string version = word.substr(tag + 2);
    return version.substr(0, version.find('-'));  // "v0.26.0-cu129"
  }

  /// Flags of a launcher that say nothing of what it starts.
  void name_flags(const std::vector<std::string>& words, size_t first, size_t end) {
    const auto at = [&](size_t i) { return words.begin() + static_cast<std::ptrdiff_t>(i); };
    for (const GivenFlag& flag : read_flags(std::vector<std::string>(at(first), at(end)), {}).flags) {
      out_.unsaid.push_back(flag.text);
    }
  }

  void read_server(const Dialect& dialect, const std::vector<std::string>& words, size_t first,
                   const std::string& version) {
    const std::vector<std::string> rest(words.begin() + static_cast<std::ptrdiff_t>(first), words.end());
    const bool fork = std::any_of(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(first), is_aphrodite);
    if (fork) reader_.note(Key::engine, "Aphrodite", "Aphrodite is read as vLLM, of which it is a fork");
    GivenFlags given = read_flags(rest, {dialect.rows});
    if (!version.empty()) given.add("image-version", version);
    const bool named_first = &dialect == &kVllm || &dialect == &kTrtllm;
    if (named_first && !given.words.empty()) reader_.read_model(given.words.front(), given.words.front());
    for (const FlatDocument& document : documents_) add_document(document, given);
    if (const std::string json = given.value("speculative-config"); !json.empty()) {
      add_document(read_json_document(json), given);
    }
    finish(dialect, given);
  }

  void read_ollama(const std::vector<std::string>& words, size_t first) {
    GivenFlags given;
    const bool names = first + 1 < words.size() && (words[first] == "run" || words[first] == "pull");
    if (names) given.add("model", words[first + 1]);
    ollama_ = given;
    seen_ollama_ = true;
  }

  void read_training(const std::vector<std::string>& words, size_t first) {
    const size_t script = script_of(words, first);
    const std::vector<std::string> before(words.begin() + static_cast<std::ptrdiff_t>(first),
                                          words.begin() + static_cast<std::ptrdiff_t>(script));
    const std::vector<std::string> behind(
        words.begin() + static_cast<std::ptrdiff_t>(std::min(script + 1, words.size())), words.end());
    const bool flags_alone = script == words.size();
    const std::string name = flags_alone && base_name(words[0]) == "llamafactory-cli" ? words[0] : "";
    const Dialect* dialect = dialect_of_flags(flags_alone ? before : behind, flags_alone ? name : words[script]);
    if (dialect == nullptr) return;
    GivenFlags given = read_flags(before, {dialect->rows});
    const GivenFlags own = read_flags(behind, {dialect->rows});
    given.flags.insert(given.flags.end(), own.flags.begin(), own.flags.end());
    given.find("m module rdzv-backend rdzv-endpoint rdzv-id master-addr master-port node-rank");
    if (base_name(words[0]) == "deepspeed") given.add("use-deepspeed", "true");
    if (const std::string file = given.value("config-file"); !file.empty() && documents_.empty()) {
      read_unseen_file(file, given);
    }
    for (const FlatDocument& document : documents_) add_document(document, given);
    for (const auto& [variable, value] : environment_) {
      if (variable == "NGPU") given.add("nproc-per-node", value);
      if (variable == "CUDA_VISIBLE_DEVICES" && takes_all_gpus(base_name(words[0]))) add_visible_gpus(value, given);
    }
    finish(*dialect, given);
  }

  /// accelerate's: of DeepSpeed, where it is called so.
  void read_unseen_file(const std::string& file, GivenFlags& given) {
    const std::string name = lower_case(file);
    const bool deepspeed = name.find("deepspeed") != std::string::npos || name.find("zero") != std::string::npos;
    if (deepspeed) return given.add("deepspeed-config-file", file);
    out_.unsaid.push_back("--config_file " + file);
  }

  /// Where no flag says how many.
  static bool takes_all_gpus(std::string_view launcher) {
    return launcher == "accelerate" || launcher == "deepspeed" || launcher == "llamafactory-cli";
  }
  static void add_visible_gpus(const std::string& list, GivenFlags& given) {
    if (list.empty() || !is_digit(list[0]) || given.has("num-processes nproc-per-node num-gpus include i")) return;
    given.add("num-gpus", write_number(1.0 + static_cast<double>(std::count(list.begin(), list.end(), ','))));
  }

  void read_environment(const ShellScript& script) {
    bool any = seen_ollama_;
    for (const ShellCommand& command : script.commands) {
      for (const auto& [name, value] : command.environment) {
        if (name.starts_with("OLLAMA_")) {
          ollama_.add(name, value);
          any = true;
        } else if (name.ends_with("_ALLOC_CONF") && value.find("expandable_segments:True") != std::string::npos) {
          reader_.set(Key::allocator, "expandable", name + "=" + value);
        }
      }
    }
    if (any) finish(kOllama, ollama_);
  }

  void finish(const Dialect& dialect, GivenFlags& given) {
    out_.programs.emplace_back(dialect.program);
    const bool serves = !dialect.rows.empty() && dialect.rows.front().key == Key::engine;
    (serves ? out_.serves : out_.trains) = true;
    reader_.read_table(dialect.rows, given);
    dialect.read(reader_, given);
    if (&dialect == &kVllm || &dialect == &kSglang || &dialect == &kTrtllm) reader_.read_format_of_model();
    for (const GivenFlag& flag : given.flags) {
      if (!flag.used) out_.unsaid.push_back(printable(flag.text, kShownBytes));
    }
  }

  LaunchReading& out_;
  LaunchReader reader_;
  std::vector<FlatDocument> documents_;
  std::vector<std::pair<std::string, std::string>> environment_;  // of the command at hand
  GivenFlags ollama_;
  bool seen_ollama_ = false;
};

}  // namespace

LaunchReading read_launch(std::string_view text, const Plan& plan) {
  LaunchReading out;
  ScriptReading reading(plan, out);
  text = text.substr(0, kMostBytes);
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool unit = text.find("ExecStart=") != std::string_view::npos;  // of systemd
  const bool file = first != std::string_view::npos && !unit && (text[first] == '{' || text[first] == '[');
  if (!file) reading.read(read_script(script_of_containers(text)));
  if (out.programs.empty()) reading.read_file(read_document(text));
  const bool of_a_bill = out.plan.view == View::train || out.plan.view == View::serve;
  if (of_a_bill && out.trains != out.serves) set_value(out.plan, Key::view, out.serves ? "serve" : "train", nullptr);
  return out;
}

}  // namespace vram
