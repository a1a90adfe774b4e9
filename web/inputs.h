#pragma once

#include "web/app_state.h"

namespace vram {

/// Does a first look need this input? The rest of a section stands behind "more", unless it differs from its default.
bool is_shown(const App& app, Key key);

/// Does the Plan view ask for it beside its question?
bool is_asked(const Field& row);

}  // namespace vram
