#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/arguments.h"

namespace cli {

/// `share` with `keys` set: they replace what it says of the same keys.
std::string with_keys(std::string_view share, const std::vector<std::pair<std::string, std::string>>& keys);

/// The share string that a command line means: --config, --launch, then SHARE, then --KEY VALUE, later ones on top.
/// Empty where no answer is possible; the reason is then on standard error.
std::optional<std::string> plan_text(const Arguments& arguments);

}  // namespace cli
