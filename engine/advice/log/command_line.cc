#include "engine/advice/log/command_line.h"

#include <algorithm>

#include "engine/advice/launch_flags.h"

namespace vram {
namespace {

constexpr size_t kLongest = 2000;  // characters of a command

/// To the end of the line, and of those that a backslash continues.
std::string_view command_at(std::string_view log, size_t at) {
  const std::string_view rest = log.substr(at, kLongest);
  size_t end = rest.find('\n');
  while (end != std::string_view::npos && end > 0 && rest.find_last_not_of(" \r", end - 1) != std::string_view::npos &&
         rest[rest.find_last_not_of(" \r", end - 1)] == '\\') {
    end = rest.find('\n', end + 1);
  }
  return rest.substr(0, end);
}

}  // namespace

void read_command_line(std::string_view log, LogReading& reading) {
  constexpr std::string_view kBegin = "vllm serve -";
  const size_t at = log.find(kBegin);
  if (at == std::string_view::npos) return;
  const std::string model = served_model(command_at(log, at));
  if (model.empty()) return;
  LogFigure made;
  made.what = "model_name";
  made.kind = CaptureKind::text;
  made.text = made.printed = model;
  made.tool = "vLLM";
  made.line = static_cast<uint32_t>(std::count(log.begin(), log.begin() + static_cast<ptrdiff_t>(at), '\n')) + 1;
  reading.figures.push_back(std::move(made));
}

}  // namespace vram
