#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

enum class Check : uint8_t { none, verdict, tight };

/// A command line taken apart. `fault` says why it cannot be answered; empty: nothing wrong.
struct Arguments {
  std::string command;
  std::vector<std::string> positional;                    // SHARE or FILE
  std::vector<std::pair<std::string, std::string>> keys;  // of the field table, as the share string spells them
  std::optional<std::string> config, launch, format, log, top;
  Check check = Check::none;
  bool timeline = false, help = false, version = false;
  std::string fault;
};

Arguments read_arguments(int count, char** texts);

}  // namespace cli
