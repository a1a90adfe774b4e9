#pragma once

#include <string>

#include "web/app_state.h"

namespace vram {

/// The inputs as data, for the document's plain form: an array of
/// {"name","section","group","first","label","help","unit","value","given","flag","words":[[word, name]],"complaint"}.
/// first: a first look needs it.
std::string form_json(const App& app);

}  // namespace vram
