#pragma once

#include "web/app_state.h"

namespace vram {

/// Does a first look need this input? The rest of a section stands behind "more", unless it differs from its default.
bool is_shown(const App& app, Key key);

}  // namespace vram
