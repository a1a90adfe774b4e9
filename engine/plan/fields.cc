#include <array>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/formats.h"
#include "engine/plan/plan.h"
#include "engine/plan/words.h"

namespace vram {
namespace {

std::vector<std::string_view> format_ids() {
  std::vector<std::string_view> ids;
  for (const Format& format : formats()) ids.push_back(format.id);
  return ids;
}

/// Words of a choice: those of its enumeration, or of the storage formats where the key names one.
template <class T>
Words words_for(Key key) {
  if constexpr (std::is_enum_v<T>) return words_of(T{});
  static const std::vector<std::string_view> ids = format_ids();
  if (key == Key::weights || key == Key::kv) return ids;
  return {};
}

std::array<Field, kKeyCount> make_fields() {
  return {{
#define VRAM_FIELD(kind, type, key, default_value, least, most, unit, group, section, label, help, built) \
  {Key::key, #key, FieldKind::kind, Group::group, section, least,                                         \
   most,     unit, label,           help,         built,   words_for<type>(Key::key)},
#include "engine/plan/fields.def"
#undef VRAM_FIELD
  }};
}

}  // namespace

std::span<const Field> fields() {
  static const std::array<Field, kKeyCount> table = make_fields();
  return table;
}

const Field& field(Key key) { return fields()[static_cast<size_t>(key)]; }

const Field* find_field(std::string_view name) {
  for (const Field& candidate : fields()) {
    if (candidate.name == name) return &candidate;
  }
  return nullptr;
}

}  // namespace vram
