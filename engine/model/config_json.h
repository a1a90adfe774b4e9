#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/model/architecture.h"
#include "engine/model/model.h"

namespace vram {

/// A config.json as read. `ok` false: refused (unknown architecture, missing field, not JSON); `faults` says why.
struct ConfigReading {
  bool ok = false;
  Architecture architecture;
  std::string id, name, source;     // of a preset; "" otherwise
  double published_parameters = 0;  // of a preset, 0 = none
  std::vector<ModelFault> faults;
};

/// Reads a Hugging Face config.json in any of the dialects in use (text_config nesting, n_embd, n_routed_experts,
/// num_local_experts, multi_query, ffn_hidden_size, layer_types, sliding_window_pattern, block_configs ...).
/// A needed field that is absent is named; an unknown architecture is named and refused.
/// `partial`: the share string's `arch`, which leaves out what plan keys say; absences are then no fault.
ConfigReading read_config(std::string_view json, bool partial = false);

/// The config.json fields of an architecture that no plan key can say, as compact JSON ("" where there are none):
/// read_config(write_arch(a), true), with the plan keys applied on top, gives `a` back.
std::string write_arch(const Architecture& architecture);

}  // namespace vram
