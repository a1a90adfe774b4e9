#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace vram::accuracy {

/// The share of a model that Ollama left to the CPU when this figure was measured, as its `ps` prints it ("11%/89%
/// CPU/GPU"; cmd/cmd.go, ListRunningHandler) or a field says ("cpu_share_0.7.0": 0.11). A field whose name goes on
/// ("_0.7.0") counts for the figures that go on so, too. Absent where nothing was left.
std::optional<double> host_share(const nlohmann::json& c, const std::string& figure);

}  // namespace vram::accuracy
