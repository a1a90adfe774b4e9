#include "engine/advice/log/command_line.h"

#include <algorithm>

#include "engine/advice/launch_flags.h"
#include "engine/advice/launch_shell.h"

namespace vram {
namespace {

constexpr size_t kLongest = 2000;  // characters of a command
constexpr size_t kMost = 16;       // commands of a program

/// A flag of llama.cpp's and the figure it is.
struct CommandFlag {
  std::string_view names;
  const char* what;
};

constexpr CommandFlag kLlamaNumbers[] = {
    {"c ctx-size", "n_ctx"},    {"b batch-size", "n_batch"},      {"ub ubatch-size", "n_ubatch"},
    {"np parallel", "n_slots"}, {"n-cpu-moe ncmoe", "n_cpu_moe"}, {"ngl gpu-layers n-gpu-layers", "n_gpu_layers"},
};
constexpr CommandFlag kLlamaWords[] = {{"ctk cache-type-k", "k_type"}, {"ctv cache-type-v", "v_type"}};

struct CommandReader {
  const LogText& text;
  LogReading& out;

  void add(LogFigure made, const char* tool, size_t at) {
    made.tool = tool;
    made.line = text.lines[at];
    const auto is_same = [&](const LogFigure& other) { return other.what == made.what && other.line == made.line; };
    if (std::none_of(out.figures.begin(), out.figures.end(), is_same)) out.figures.push_back(std::move(made));
  }

  void add_text(const char* what, const std::string& value, const char* tool, size_t at) {
    if (value.empty()) return;
    LogFigure made;
    made.what = what;
    made.kind = CaptureKind::text;
    made.text = made.printed = value;
    add(std::move(made), tool, at);
  }

  void read_llama(size_t at) {
    const ShellScript script = read_script(command_at(text, at));
    if (script.commands.empty()) return;
    GivenFlags given = read_flags(script.commands[0].words, {});
    for (const CommandFlag& flag : kLlamaNumbers) {
      LogFigure made;
      made.what = flag.what;
      made.number = given.number(flag.names, 0);
      made.printed = given.value(flag.names);
      if (made.number > 0) add(std::move(made), "llama.cpp", at);
    }
    for (const CommandFlag& flag : kLlamaWords) add_text(flag.what, given.value(flag.names), "llama.cpp", at);
  }

  /// Every place where a program, its name without white space, is given flags.
  template <typename Read>
  void each(std::string_view program, const Read& read) {
    const std::string_view all = text.characters;
    size_t left = kMost;
    for (size_t at = all.find(program); at != std::string_view::npos; at = all.find(program, at + program.size())) {
      size_t flag = at + program.size();
      if (all.substr(flag).starts_with(".exe")) flag += 4;
      if (text.at(flag) != '-' || text.gap(flag) == Gap::none || text.gap(flag + 1) != Gap::none) continue;
      read(at);
      if (--left == 0) return;
    }
  }
};

}  // namespace

std::string command_at(const LogText& text, size_t at) {
  std::string command;
  for (size_t end = at; end < std::min(text.size(), at + kLongest) && text.at(end) != '`'; ++end) {
    if (end > at && text.gap(end) == Gap::line) {
      const bool joined = std::binary_search(text.continued.begin(), text.continued.end(), end);
      end = text.behind_prefix(end);
      if (text.at(end) != '-' && !joined) break;
    }
    if (text.gap(end) != Gap::none) command += ' ';
    command += text.at(end);
  }
  return command;
}

void read_commands(const LogText& text, LogReading& reading) {
  CommandReader reader{text, reading};
  reader.each("vllmserve",
              [&](size_t at) { reader.add_text("model_name", served_model(command_at(text, at)), "vLLM", at); });
  for (const std::string_view program : {"llama-server", "llama-cli", "ollamarunner", "ollama_llama_server"}) {
    reader.each(program, [&](size_t at) { reader.read_llama(at); });
  }
}

}  // namespace vram
