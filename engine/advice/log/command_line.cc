#include "engine/advice/log/command_line.h"

#include <algorithm>

#include "engine/advice/launch_flags.h"

namespace vram {
namespace {

constexpr size_t kLongest = 2000;  // characters of a command

/// To the end of the line, and of those that a backslash or a flag joins to it.
std::string command_at(const LogText& text, size_t at) {
  std::string command;
  for (size_t end = at; end < std::min(text.size(), at + kLongest); ++end) {
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

}  // namespace

void read_command_line(const LogText& text, LogReading& reading) {
  constexpr std::string_view kBegin = "vllmserve-";
  const size_t at = text.characters.find(kBegin);
  if (at == std::string::npos) return;
  const std::string model = served_model(command_at(text, at));
  if (model.empty()) return;
  LogFigure made;
  made.what = "model_name";
  made.kind = CaptureKind::text;
  made.text = made.printed = model;
  made.tool = "vLLM";
  made.line = text.lines[at];
  reading.figures.push_back(std::move(made));
}

}  // namespace vram
