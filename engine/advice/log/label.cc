#include "engine/advice/log/label.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "engine/advice/log/label_words.h"
#include "engine/advice/log/number.h"
#include "engine/text.h"

namespace vram {
namespace {

constexpr size_t kReach = 100;     // characters before a number that may name it
constexpr size_t kMostWords = 12;  // of a name

/// The words before a number, nearest last.
struct Name {
  std::vector<Says> words;
  uint64_t unit_bytes = 0;  // "memory (GB): 4.2"
  bool linked = false;      // by a colon or an equals sign: all of the words are the name

  bool has(Says says) const { return std::find(words.begin(), words.end(), says) != words.end(); }
};

struct NameReader {
  const LogText& text;
  size_t at;  // of the number

  /// Where the clause begins that ends in the number.
  size_t begin() const {
    const size_t prefix = text.prefix_before(at);
    int open = 0;
    size_t from = at;
    while (from > prefix && at - from < kReach && text.gap(from) != Gap::line) {
      const char c = text.at(from - 1);
      if (c == ')' || c == ']') ++open;
      if ((c == '(' || c == '[') && open-- == 0) break;
      if (std::string_view(";|{}!?&").find(c) != std::string_view::npos || (c == ',' && open == 0)) break;
      if (c == '.' && text.gap(from) != Gap::none) break;
      --from;
    }
    return from;
  }

  bool goes_on(size_t i) const {
    const char c = text.at(i), before = text.at(i - 1);
    const bool camel = is_letter(before) && lower_case(before) == before && is_letter(c) && lower_case(c) != c;
    return text.gap(i) == Gap::none && is_alphanumeric(c) && !camel;
  }

  /// "shmem-r" on the line before, "ss: 0 kB" on this one.
  bool half_word(size_t begin) const {
    const char before = begin > 0 ? text.at(begin - 1) : ' ', c = text.at(begin);
    return before == '-' || (is_letter(before) && is_letter(c) && lower_case(c) == c);
  }

  size_t word_end(size_t start) const {
    const UnitScan unit = scan_unit(text, start, Gigabyte::binary);
    if (unit.bytes > 1 && unit.end <= at) return unit.end;
    size_t end = start + 1;
    while (end < at && goes_on(end)) ++end;
    return end;
  }

  Name read() const {
    Name name;
    size_t behind = begin();
    if (text.wrapped(behind) && half_word(behind)) return name;
    bool head = false;
    size_t tag = 0;  // words before "[Start]"
    for (size_t i = behind; i < at;) {
      if (!is_alphanumeric(text.at(i))) {
        head = head || text.at(i) == ':';
        if (text.at(i) == '[') tag = name.words.size();
        if (text.at(i) == ']') name.words.resize(std::min(tag, name.words.size()));
        ++i;
        continue;
      }
      if (head) keep_place(name);
      head = false;
      behind = word_end(i);
      add(i, behind, name);
      i = behind;
    }
    for (size_t i = behind; i < at; ++i) name.linked = name.linked || text.at(i) == ':' || text.at(i) == '=';
    return name;
  }

  /// Of the line that the clause stands on: "GPU memory: 12.3 GB used, 11.7 GB free".
  bool has_head() const {
    size_t i = begin();
    for (const size_t end = i; i > 0 && end - i < kReach && text.gap(i) != Gap::line; --i) {
      if (text.at(i - 1) == ':' || text.at(i - 1) == '=') return true;
    }
    return false;
  }

  /// "VRAM: total=24.0 GB, used=12.3 GB": a word alone is of the place that the line named.
  void add_place(Name& name) const {
    if (name.words.size() != 1) return;
    size_t end = begin();
    if (end == 0 || text.at(end - 1) != ',') return;
    while (end > 0 && at - end < kReach && text.gap(end) != Gap::line) --end;
    for (size_t i = end; i < at; i = is_alphanumeric(text.at(i)) ? word_end(i) : i + 1) {
      if (!is_alphanumeric(text.at(i))) continue;
      const Says says = meaning(text, i, word_end(i));
      if (is_place(says) && !name.has(says)) name.words.push_back(says);
    }
  }

  /// Of the words before a colon that others follow: "memory usage (cuda): allocated"; none of "before saving:
  /// allocated".
  static void keep_place(Name& name) {
    if (name.has(Says::when)) name.words.clear();
    std::replace(name.words.begin(), name.words.end(), Says::used, Says::link);
  }

  /// "step:12", "allocated_gb:45.1": the value of another name; no "cuda:0".
  bool is_value(size_t start, size_t end, const Name& name) const {
    const char before = start > 0 ? text.at(start - 1) : ' ';
    const bool index = end - start <= 2 && !name.words.empty() && is_place(name.words.back());
    return is_digit(text.at(start)) && (before == ':' || before == '=') && !index;
  }

  /// A size before belongs to another name; a unit alone is of what follows.
  void add(size_t start, size_t end, Name& name) const {
    if (is_digit(text.at(start)) && start > 0 && text.at(start - 1) == '.') return;  // decimals
    if (is_value(start, end, name)) {
      name = {};
      return;
    }
    const UnitScan unit = scan_unit(text, start, Gigabyte::binary);
    const bool is_unit = unit.bytes > 1 && end - start > 1 && unit.end == end;
    const bool number = start > 0 && is_digit(text.at(start - 1));
    if (scan_size(text, start, Gigabyte::binary).result == Scan::read || (is_unit && number)) {
      name = {};
    } else if (is_unit) {
      name.unit_bytes = unit.bytes;
    } else {
      const bool option =
          start > 1 && text.at(start - 1) == '-' && text.at(start - 2) == '-' && text.gap(start) == Gap::none;
      name.words.push_back(option ? Says::other : meaning(text, start, end));
    }
  }
};

/// Of words that stand alone before a size only those at the end that say something; true where that is all of them.
bool keep_known(Name& name) {
  size_t kept = name.words.size();
  while (kept > 0 && name.words[kept - 1] != Says::nothing) --kept;
  name.words.erase(name.words.begin(), name.words.begin() + static_cast<ptrdiff_t>(kept));
  name.words.erase(std::remove(name.words.begin(), name.words.end(), Says::link), name.words.end());
  return kept == 0;
}

/// "memory after loading the model"
void cut_time(Name& name) {
  name.words.erase(std::find(name.words.begin(), name.words.end(), Says::when), name.words.end());
}

Says only_one_of(const Name& name, std::initializer_list<Says> among) {
  Says found = Says::nothing;
  for (const Says says : among) {
    if (!name.has(says)) continue;
    if (found != Says::nothing) return Says::other;
    found = says;
  }
  return found;
}

const char* host_name(Says what, bool peak) {
  if (what == Says::free) return "host_free_bytes";
  if (what == Says::total) return "host_total_bytes";
  return peak ? "host_peak_bytes" : "host_used_bytes";
}

const char* device_name(const Name& name, Says what, bool peak) {
  const bool memory = name.has(Says::memory) || name.has(Says::device_memory) || name.has(Says::ram);
  const bool device = name.has(Says::device) || name.has(Says::device_memory);
  if (!memory && !device && name.has(Says::nothing)) return "";  // "alloc granule"
  if (what == Says::allocated) return peak ? "peak_allocated_bytes" : "allocated_bytes";
  if (what == Says::reserved) return peak ? "peak_reserved_bytes" : "reserved_bytes";
  if (what == Says::cached) return peak ? "max_cached_bytes" : "cached_bytes";
  if (what == Says::nothing && peak) return memory || (name.words.size() == 1 && name.linked) ? "peak_bytes" : "";
  if (what == Says::active && peak) return "peak_active_bytes";
  if (!memory && !device) return "";
  if (what == Says::active) return "active_bytes";
  if (what == Says::used && peak) return "peak_bytes";
  if (!device || peak) return "";
  if (what == Says::nothing) return name.has(Says::present) ? "used_bytes" : "";
  return what == Says::free ? "free_bytes" : what == Says::total ? "capacity_bytes" : "used_bytes";
}

const char* what_of(const Name& name) {
  if (name.words.empty() || name.words.size() > kMostWords || name.has(Says::other)) return "";
  const bool device = name.has(Says::device) || name.has(Says::device_memory);
  const bool host = name.has(Says::host) || name.has(Says::rss) || (name.has(Says::ram) && !device);
  const bool peak = name.has(Says::peak);
  if ((device && host) || (peak && name.has(Says::present))) return "";
  Says what = only_one_of(name, {Says::allocated, Says::reserved, Says::cached, Says::active, Says::used, Says::free});
  if (what == Says::nothing && name.has(Says::total)) what = Says::total;
  if (what == Says::other) return "";
  if (!host) return device_name(name, what, peak);
  const bool enough = what != Says::nothing || peak || name.has(Says::rss);
  return enough ? host_name(what, peak) : "";
}

bool is_state(Says says) {
  return says == Says::allocated || says == Says::reserved || says == Says::active || says == Says::used ||
         says == Says::free || says == Says::total;
}

/// "4.2 GB allocated, ", "4.2 GB of GPU memory": what the words behind a size add to those before it.
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
    if (is_state(says) && ends) std::replace(name.words.begin(), name.words.end(), Says::used, Says::link);
    if (says == Says::other || place || peak || (is_state(says) && ends)) name.words.push_back(says);
    if (ends || !(place || peak || says == Says::link)) return;
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
  if (device == host || name.has(Says::other) || name.words.size() > kMostWords) return;
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
  const bool alone = !whole && name.words.size() < 2 && !name.has(Says::used);  // "both allocated 4 GiB"
  if (alone || name.words.size() > kMostWords) return {};
  const bool bare = name.words.empty();
  if (own_unit) add_behind(text, found.end, name);
  if (own_unit && (name.linked || (bare && reader.has_head()))) reader.add_place(name);
  found.what = what_of(name);
  const bool quoted = at > 0 && (text.at(at - 1) == '"' || text.at(at - 1) == '\'');
  if (quoted && found.what == "peak_bytes" && !name.has(Says::used)) found.what.clear();  // "max_memory": a setting
  return found;
}

}  // namespace vram
