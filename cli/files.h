#pragma once

#include <optional>
#include <string>

namespace cli {

/// The whole of a file, "-" for standard input. Empty where it cannot be read, or is larger than 1 GiB.
std::optional<std::string> read_file(const std::string& path);

}  // namespace cli
