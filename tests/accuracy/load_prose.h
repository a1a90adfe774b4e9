#pragma once

#include "tests/accuracy/load.h"

namespace vram::accuracy {

/// What the sentences of a case say of the load under which one of its figures was measured, each part counting before
/// the one above it.
struct ProseLoad {
  Load general;
  // fields of the case
  Load of_clients;  // "c8: 100 requests", "500 / 504 each at c100"
  // the figure's own name
  Load of_name;  // "*_2000_100: 500 random requests"
};

/// `stated`: what fields and the figure's name say.
ProseLoad load_of_prose(const json& c, const std::string& figure, const Load& stated);

/// The figure's load in all: sentences, fields and its name.
Load load_of_figure(const json& c, const std::string& figure, const Load& named);

}  // namespace vram::accuracy
