#include "engine/advice/log/label.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "engine/advice/log/label_name.h"
#include "engine/advice/log/label_words.h"
#include "engine/advice/log/number.h"
#include "engine/text.h"

namespace vram {
namespace {

bool is_state(Says says) {
  return says == Says::allocated || says == Says::reserved || says == Says::active || says == Says::used ||
         says == Says::free || says == Says::total;
}

/// "free" of "4.2 GB of free memory"
bool place_follows(const LogText& text, size_t start) {
  size_t end = start;
  while (is_letter(text.at(end)) && (end == start || text.gap(end) == Gap::none)) ++end;
  if (end == start || text.gap(start) == Gap::line) return false;
  const Says says = meaning(text, start, end);
  return says == Says::memory || is_place(says);
}

/// "reserved 3 GiB", and what for: of no allocator, as "GPU memory reserved 3 GiB" may be.
bool is_verb(const Name& name) {
  const bool state = name.has(Says::allocated) || name.has(Says::reserved) || name.has(Says::cached);
  return state && !name.has(Says::memory) && !name.has(Says::device) && !name.has(Says::device_memory);
}

/// "4.2 GB allocated, ", "4.2 GB of GPU memory", "4.2 GB of free memory": what the words behind a size add to those
/// before it.
void add_behind(const LogText& text, size_t end, Name& name) {
  constexpr int kMost = 4;  // words
  for (int i = 0; i < kMost && text.gap(end) != Gap::line && is_letter(text.at(end)); ++i) {
    const size_t start = end;
    do ++end;
    while (text.gap(end) == Gap::none && is_letter(text.at(end)));
    const bool ends =
        text.gap(end) == Gap::line || std::string_view(",;|()]./").find(text.at(end)) != std::string_view::npos;
    const Says says = meaning(text, start, end);
    const bool place = says == Says::memory || is_place(says);
    const bool peak = says == Says::peak && !ends && !name.linked;  // "4.2 GB max allocated"
    if (says == Says::purpose && !name.linked && is_verb(name)) name.words.push_back(Says::other);
    const bool state = is_state(says) && (ends || place_follows(text, end));
    if (state) std::replace(name.words.begin(), name.words.end(), Says::used, Says::link);
    if (is_other(says) || place || peak || state) name.words.push_back(says);
    if (ends || !(place || peak || state || says == Says::link)) return;
  }
}

/// "memory (GB): ", "mem_gb=": a cheap look, since most numbers of a log have none.
bool unit_may_stand_before(const LogText& text, size_t at) {
  constexpr size_t kNear = 24;
  if (at == 0 || (text.at(at - 1) != ':' && text.at(at - 1) != '=')) return false;
  for (size_t i = at; i > 0 && at - i < kNear; --i) {
    if (lower_case(text.at(i - 1)) == 'b') return true;
  }
  return false;
}

/// The second number of "45.2/79.3GB", "45.2 GB / 79.3 GB"; `at`: behind the first.
struct Part {
  SizeScan size;
  uint64_t unit_bytes = 0;
};

Part scan_part(const LogText& text, size_t at) {
  if (text.at(at) != '/' || text.gap(at) == Gap::line) return {};
  const NumberScan number = scan_number(text, at + 1);
  if (number.result != Scan::read) return {};
  const UnitScan unit = scan_unit(text, number.end, Gigabyte::binary);
  const bool rate = text.at(unit.end) == '/' && text.gap(unit.end) == Gap::none;
  return unit.bytes > 1 && !rate ? Part{scan_size(text, at + 1, Gigabyte::binary), unit.bytes} : Part{};
}

/// "allocated/reserved: 4.2/5.3 GB": the state that stands first, and the second; nothing: one at most.
std::array<Says, 2> two_states(const Name& name) {
  std::array<Says, 2> states = {Says::nothing, Says::nothing};
  size_t count = 0;
  for (const Says says : name.words) {
    const bool state = says == Says::allocated || says == Says::reserved || says == Says::active;
    if (state && count < 2) states[count++] = says;
  }
  return count == 2 ? states : std::array<Says, 2>{Says::nothing, Says::nothing};
}

/// Names both of a part and its whole; the place must be certain.
void name_parts(const Name& name, LabelledSize& found) {
  const bool peak_memory = name.has(Says::peak) && name.has(Says::memory);
  const bool host = name.has(Says::host) || (name.has(Says::ram) && !name.has(Says::device));
  const bool device = name.has(Says::device) || name.has(Says::device_memory) || (peak_memory && !host);
  if (device == host || name.has(Says::other) || name.has(Says::apart) || name.words.size() > kMostNameWords) return;
  if (const auto [first, second] = two_states(name); second != Says::nothing) {
    found.what = device_name(name, first, name.has(Says::peak));
    found.of_what = device_name(name, second, name.has(Says::peak));
    return;
  }
  if (name.has(Says::free) && !name.has(Says::used)) return;  // of what is free
  const bool peak = name.has(Says::peak);
  const Says what = name.has(Says::allocated)  ? Says::allocated
                    : name.has(Says::reserved) ? Says::reserved
                                               : Says::used;
  found.what = host ? host_name(Says::used, peak) : device_name(name, what, peak);
  found.of_what = host ? "host_total_bytes" : "total_bytes";
}

LabelledSize scan_parts(const LogText& text, size_t at, const NumberScan& number, uint64_t unit_bytes,
                        const Part& whole) {
  LabelledSize found;
  const NameReader reader{text, at};
  Name name = reader.read();
  if (!name.linked) keep_known(name);
  cut_time(name);
  add_behind(text, whole.size.end, name);
  reader.add_row_head(name);
  if (!number_bytes(number, unit_bytes > 1 ? unit_bytes : whole.unit_bytes, found.bytes)) return {};
  if (found.bytes > whole.size.bytes + whole.size.bytes / 8) return {};  // no part of it
  found.of_bytes = whole.size.bytes;
  found.end = whole.size.end;
  name_parts(name, found);
  if (found.what.empty()) return {};
  return found;
}

/// Of a whole number without a unit: bytes, where it is too large for anything else.
bool is_bytes(const LogText& text, size_t at, const NumberScan& number) {
  constexpr uint64_t kLeast = uint64_t{1} << 28;
  const bool linked = at > 0 && (text.at(at - 1) == ':' || text.at(at - 1) == '=');
  return linked && number.decimals == 0 && number.digits >= kLeast &&
         !(text.gap(number.end) == Gap::none && is_letter(text.at(number.end)));
}

}  // namespace

LabelledSize scan_labelled(const LogText& text, size_t at) {
  const NumberScan number = scan_number(text, at);
  if (number.result != Scan::read) return {};
  const UnitScan unit = scan_unit(text, number.end, Gigabyte::binary);
  const bool own_unit = unit.bytes > 1 && unit.end > number.end + 1 && text.gap(number.end) != Gap::line;
  LabelledSize found;
  found.end = own_unit ? unit.end : number.end;
  if (const Part whole = scan_part(text, found.end); whole.unit_bytes > 1) {
    return scan_parts(text, at, number, own_unit ? unit.bytes : 0, whole);
  }
  if (text.at(found.end) == '/' && text.gap(found.end) == Gap::none) return {};  // a rate, or a part of a whole
  const bool bytes = !own_unit && is_bytes(text, at, number);
  if (!own_unit && !bytes && !unit_may_stand_before(text, at)) return {};
  const NameReader reader{text, at};
  Name name = reader.read();
  uint64_t unit_bytes = own_unit ? unit.bytes : name.linked ? name.unit_bytes : 0;
  if (unit_bytes == 0 && bytes && name.linked) unit_bytes = 1;
  if (unit_bytes == 0 || !number_bytes(number, unit_bytes, found.bytes)) return {};
  const bool whole = name.linked || keep_known(name);
  cut_time(name);
  const bool place = name.words.size() == 1 && is_place(name.words[0]);  // "GPU 0 with 4 GiB of free memory"
  const bool alone = !whole && !place && name.words.size() < 2 && !name.has(Says::used);  // "both allocated 4 GiB"
  if (alone || name.words.size() > kMostNameWords) return {};
  const bool bare = name.words.empty();
  if (own_unit) add_behind(text, found.end, name);
  if (own_unit && (name.linked || (bare && reader.has_head()))) reader.add_place(name);
  reader.add_row_head(name);
  found.what = what_of(name);
  const bool quoted = at > 0 && (text.at(at - 1) == '"' || text.at(at - 1) == '\'');
  if (quoted && found.what == "peak_bytes" && !name.has(Says::used)) found.what.clear();  // "max_memory": a setting
  return found;
}

}  // namespace vram
