#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/model/architecture.h"

namespace vram {

/// A member of an Architecture that no plan key says, under the name that a share string's `arch` gives it.
template <class Owner>
struct Trait {
  const char* name;
  std::variant<double Owner::*, bool Owner::*, std::string Owner::*, std::vector<double> Owner::*> member;
};

std::span<const Trait<Architecture>> architecture_traits();
std::span<const Trait<LinearMixer>> mixer_traits();  // inside "linear"

}  // namespace vram
