#include "engine/plan/plan.h"

namespace vram {
namespace {

constexpr std::string_view kHelp[] = {
#define VRAM_FIELD(kind, type, key, default_value, least, most, unit, group, section, label, help, built) \
  std::string_view{help},
#include "engine/plan/fields.def"
#undef VRAM_FIELD
};

}  // namespace

std::string_view help_of(const Field& field) { return kHelp[static_cast<size_t>(field.key)]; }

}  // namespace vram
