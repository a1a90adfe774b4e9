#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace vram {

/// A file of presets/, embedded at build time (tools/embed_presets.cmake); sorted by file name.
struct PresetRow {
  std::string_view id;      // "llama-3.1-70b"
  std::string_view name;    // "Llama 3.1 70B"
  std::string_view detail;  // models: exact published parameter count, as text; hardware: vendor; plans: ""
  std::string_view json;    // the whole file, to be parsed when picked
  std::string_view family;  // what a list groups by; "" where the file does not say
};

/// Rows of a text of files, each with a NUL behind it; `detail` names the member that is the rows' detail.
std::vector<PresetRow> preset_rows(std::string_view text, std::string_view detail);

std::span<const PresetRow> model_presets();     // presets/models
std::span<const PresetRow> hardware_presets();  // presets/hardware
std::span<const PresetRow> plan_presets();      // presets/plans

}  // namespace vram
