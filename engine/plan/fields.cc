#include <type_traits>

#include "engine/formats.h"
#include "engine/plan/plan.h"
#include "engine/plan/words.h"

namespace vram {
namespace {

/// Words of a choice: those of its enumeration, or of the storage formats where the key names one.
template <class T>
constexpr Words words_for(Key key) {
  if constexpr (std::is_enum_v<T>) return words_of(T{});
  const bool format = key == Key::weights || key == Key::kv || key == Key::kv_values;
  return format ? Words{kFormatIds} : Words{};
}

constexpr Field kFields[] = {
#define VRAM_FIELD(kind, type, key, default_value, least, most, unit, group, section, label, help, built) \
  {Key::key,                                                                                              \
   #key,                                                                                                  \
   FieldKind::kind,                                                                                       \
   Group::group,                                                                                          \
   section,                                                                                               \
   least,                                                                                                 \
   most,                                                                                                  \
   unit,                                                                                                  \
   label,                                                                                                 \
   built,                                                                                                 \
   words_for<type>(Key::key),                                                                             \
   std::string_view(#default_value) != "none"},
#include "engine/plan/fields.def"
#undef VRAM_FIELD
};

}  // namespace

std::span<const Field> fields() { return kFields; }

const Field& field(Key key) { return fields()[static_cast<size_t>(key)]; }

const Field* find_field(std::string_view name) {
  for (const Field& candidate : fields()) {
    if (candidate.name == name) return &candidate;
  }
  return nullptr;
}

}  // namespace vram
