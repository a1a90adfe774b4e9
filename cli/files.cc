#include "cli/files.h"

#include <cstdio>

namespace cli {
namespace {

constexpr size_t kLargestFile = size_t{1} << 30;  // some inputs never end

std::optional<std::string> read_all(std::FILE* file) {
  std::string text;
  char buffer[65536];
  for (size_t bytes; (bytes = std::fread(buffer, 1, sizeof buffer, file)) > 0;) {
    text.append(buffer, bytes);
    if (text.size() > kLargestFile) return std::nullopt;
  }
  if (std::ferror(file) != 0) return std::nullopt;
  return text;
}

}  // namespace

std::optional<std::string> read_file(const std::string& path) {
  if (path == "-") return read_all(stdin);
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return std::nullopt;
  std::optional<std::string> text = read_all(file);
  std::fclose(file);
  return text;
}

}  // namespace cli
