#pragma once

#include <string>
#include <vector>

namespace vram {

/// The server of models that a command starts and whose flags no table reads; "" where it starts none that is known.
std::string unread_server(const std::vector<std::string>& words);

}  // namespace vram
