#include "engine/advice/log/started_with.h"

#include <algorithm>
#include <vector>

#include "engine/advice/launch_shell.h"
#include "engine/advice/log/command_line.h"
#include "engine/text.h"

namespace vram {
namespace {

constexpr size_t kSearched = size_t{1} << 18;  // characters: what a run was started with stands at the log's beginning
constexpr size_t kLongest = 20000;             // characters of the arguments

struct Argument {
  std::string name, value;
};

/// Where arguments begin, without white space, and the program whose flags they are called like.
struct Echo {
  std::string_view begins, program;
};

constexpr Echo kEchoes[] = {
    {"non-defaultargs:{", "vllm serve"},          // vllm/entrypoints/utils.py (0.9)
    {"args:Namespace(", "vllm serve"},            // vllm/entrypoints/openai/api_server.py (to 0.8)
    {"server_args=ServerArgs(", "sglang serve"},  // sglang/srt/entrypoints/engine.py
    {"server_args={", "sglang serve"},
    {"parametersTrainingArguments(", "python train.py"},  // transformers/examples
};

// Programs whose commands say what they run, without white space.
constexpr std::string_view kPrograms[] = {"vllmserve",   "vllm.entrypoints.", "sglang.launch_server",
                                          "sglangserve", "trtllm-serve",      "llama-server",
                                          "llama-cli",   "torchrun",          "acceleratelaunch"};

/// Where a Python value ends: at the comma or the bracket that it stands before.
size_t value_end(std::string_view text, size_t at) {
  int depth = 0;
  char quote = '\0';
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != '\0') {
      quote = c == quote ? '\0' : quote;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{' || c == '<') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}' || c == '>') {
      if (--depth < 0) return at;
    } else if (c == ',' && depth == 0) {
      return at;
    }
  }
  return at;
}

std::string_view unquoted(std::string_view text) {
  text = trimmed(text);
  const bool quoted = text.size() >= 2 && (text[0] == '\'' || text[0] == '"') && text.back() == text[0];
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// "tp_size=8, ..." or "'tp_size': 8, ...", up to the bracket that closes them.
std::vector<Argument> python_arguments(std::string_view text) {
  std::vector<Argument> arguments;
  for (size_t at = 0; at < text.size();) {
    const size_t sign = text.find_first_of("=:)}", at);
    if (sign == std::string_view::npos || text[sign] == ')' || text[sign] == '}') break;
    const size_t end = value_end(text, sign + 1);
    arguments.push_back({std::string(unquoted(text.substr(at, sign - at))),
                         std::string(trimmed(text.substr(sign + 1, end - sign - 1)))});
    if (end >= text.size() || text[end] != ',') break;
    at = end + 1;
  }
  return arguments;
}

bool is_nothing(std::string_view value) {
  constexpr std::string_view kNothing[] = {"None", "False", "''", "\"\"", "[]", "{}", ""};
  return std::find(std::begin(kNothing), std::end(kNothing), value) != std::end(kNothing);
}

/// As a command has it: a dict as JSON, an Enum's member by its name.
std::string plain(std::string_view value) {
  std::string text(unquoted(value));
  if (value[0] == '{') std::replace(text.begin(), text.end(), '\'', '"');
  const size_t point = text.find('.');
  const bool member = value[0] >= 'A' && value[0] <= 'Z' && point != std::string::npos;  // OptimizerNames.ADAMW_TORCH
  return member ? lower_case(text.substr(point + 1)) : text;
}

std::string command_of(std::string_view program, const std::vector<Argument>& arguments) {
  std::string command(program);
  for (const auto& [name, value] : arguments) {
    if (is_nothing(value)) continue;
    command += " --" + name;
    if (value != "True") command += " " + shell_word(plain(value));
  }
  return command;
}

/// "tensor_model_parallel_size ........ 8", a line each (Megatron-LM, megatron/training/arguments.py: _print_args).
std::vector<Argument> dotted_arguments(const LogText& text, size_t begin, size_t end) {
  std::vector<Argument> arguments;
  for (size_t at = begin; at < end;) {
    size_t next = at + 1;
    while (next < end && text.gap(next) != Gap::line) ++next;
    const std::string line = text.excerpt(text.behind_prefix(at), next);
    const size_t dots = line.find(" .."), value = line.find_first_not_of(" .", dots);
    if (dots != std::string::npos && value != std::string::npos) {
      arguments.push_back({line.substr(0, dots), line.substr(value)});
    }
    at = next;
  }
  return arguments;
}

/// What argparse keeps under another name than the flag's.
std::vector<Argument> megatron_flags(std::vector<Argument> arguments) {
  for (Argument& each : arguments) {
    if (each.name == "add_bias_linear" && each.value == "False") each = {"disable-bias-linear", "True"};
  }
  return arguments;
}

std::string echo_in(const LogText& text, std::string_view searched) {
  for (const auto& [begins, program] : kEchoes) {
    const size_t at = searched.find(begins);
    if (at == std::string_view::npos) continue;
    const size_t first = at + begins.size();
    const std::vector<Argument> arguments = python_arguments(text.excerpt(first, first + kLongest));
    if (arguments.size() > 1) return command_of(program, arguments);
  }
  constexpr std::string_view kDotted = "-arguments-", kDottedEnd = "-endofarguments-";
  const size_t at = searched.find(kDotted);
  if (at == std::string_view::npos) return "";
  const size_t end = std::min(text.characters.find(kDottedEnd, at), at + kLongest * 2);
  const std::vector<Argument> arguments = dotted_arguments(text, at, std::min(end, text.size()));
  return arguments.empty() ? "" : command_of("torchrun pretrain_gpt.py", megatron_flags(arguments));
}

}  // namespace

std::string started_with(const LogText& text) {
  const std::string_view searched = std::string_view(text.characters).substr(0, kSearched);
  if (std::string echo = echo_in(text, searched); !echo.empty()) return echo;
  size_t first = std::string_view::npos;
  for (const std::string_view program : kPrograms) first = std::min(first, searched.find(program));
  if (first == std::string_view::npos) return "";
  const std::string command = command_at(text, first);
  return command.find(" -") != std::string::npos ? command : "";
}

}  // namespace vram
