#include "cli/say.h"

#include <cstdio>
#include <string>

namespace cli {

void say(std::string_view text) {
  const std::string line = std::string("vram-ledger: ").append(text).append("\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void say(const std::vector<vram::Message>& messages, std::string_view before) {
  for (const vram::Message& message : messages) say(std::string(before).append(message.text));
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

bool is_printed() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

}  // namespace cli
