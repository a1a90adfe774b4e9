#include "engine/advice/log/label_name.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "engine/text.h"

namespace vram {
namespace {

constexpr size_t kReach = 100;  // characters before a number that may name it

/// Of the words before a colon that others follow: "memory usage (cuda): allocated"; none of "before saving:
/// allocated". True where they say "used".
bool keep_place(Name& name) {
  if (name.has(Says::when) || name.has(Says::purpose)) name.words.clear();
  const bool used = name.has(Says::used);
  std::replace(name.words.begin(), name.words.end(), Says::used, Says::link);
  return used;
}

bool has_state(const Name& name) {
  constexpr Says kStates[] = {Says::allocated, Says::reserved, Says::cached, Says::active,
                              Says::used,      Says::free,     Says::total};
  return std::any_of(std::begin(kStates), std::end(kStates), [&](Says says) { return name.has(says); });
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

}  // namespace

/// Where the clause begins that ends in the number.
size_t NameReader::begin() const {
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

bool NameReader::goes_on(size_t i) const {
  const char c = text.at(i), before = text.at(i - 1);
  const bool camel = is_letter(before) && lower_case(before) == before && is_letter(c) && lower_case(c) != c;
  return text.gap(i) == Gap::none && is_alphanumeric(c) && !camel;
}

/// "shmem-r" on the line before, "ss: 0 kB" on this one.
bool NameReader::half_word(size_t begin) const {
  const char before = begin > 0 ? text.at(begin - 1) : ' ', c = text.at(begin);
  return before == '-' || (is_letter(before) && is_letter(c) && lower_case(c) == c);
}

size_t NameReader::word_end(size_t start) const {
  const UnitScan unit = scan_unit(text, start, Gigabyte::binary);
  if (unit.bytes > 1 && unit.end <= at) return unit.end;
  size_t end = start + 1;
  while (end < at && goes_on(end)) ++end;
  return end;
}

Name NameReader::read() const {
  Name name;
  size_t behind = begin();
  if (text.wrapped(behind) && half_word(behind)) return name;
  bool head = false, used = false;
  size_t tag = 0;  // words before "[Start]"
  for (size_t i = behind; i < at;) {
    if (!is_alphanumeric(text.at(i))) {
      head = head || text.at(i) == ':';
      if (text.at(i) == '[') tag = name.words.size();
      if (text.at(i) == ']') name.words.resize(std::min(tag, name.words.size()));
      ++i;
      continue;
    }
    if (head) used = keep_place(name) || used;
    head = false;
    behind = word_end(i);
    add(i, behind, name);
    i = behind;
  }
  if (used && !has_state(name) && !name.words.empty()) name.words.push_back(Says::used);  // "mem_usage:cuda:0"
  for (size_t i = behind; i < at; ++i) name.linked = name.linked || text.at(i) == ':' || text.at(i) == '=';
  return name;
}

bool NameReader::has_head() const {
  size_t i = begin();
  if (in_bracket(i)) return true;
  for (const size_t end = i; i > 0 && end - i < kReach && text.gap(i) != Gap::line; --i) {
    if (text.at(i - 1) == ':' || text.at(i - 1) == '=') return true;
  }
  return false;
}

bool NameReader::in_bracket(size_t clause) const {
  return clause > 0 && text.gap(clause) != Gap::line && text.at(clause - 1) == '(';
}

/// Where the words begin that a clause is of: those of its line, or of the sentence before its bracket.
size_t NameReader::head_begin(size_t clause) const {
  const bool bracket = in_bracket(clause);
  size_t from = clause - 1;
  for (; from > 0 && at - from < kReach && text.gap(from) != Gap::line; --from) {
    if (bracket && std::string_view(",;|.(){}").find(text.at(from - 1)) != std::string_view::npos) break;
  }
  return from;
}

void NameReader::add_place(Name& name) const {
  const size_t clause = begin();
  if (name.words.size() != 1 || clause == 0 || (text.at(clause - 1) != ',' && !in_bracket(clause))) return;
  for (size_t i = head_begin(clause); i < at; i = is_alphanumeric(text.at(i)) ? word_end(i) : i + 1) {
    if (!is_alphanumeric(text.at(i))) continue;
    const Says says = meaning(text, i, word_end(i));
    const bool elsewhere = in_bracket(clause) && is_other(says);  // "the KV cache of the GPU (2 GB used)"
    if ((is_place(says) || elsewhere) && !name.has(says)) name.words.push_back(says);
  }
}

/// "| Peak training memory | Allocated: 4.2 GB |", "| Peak VRAM | 33 GB |": what the first cell of a table's row says
/// of the others; of the second, where that has no words, it is the name.
void NameReader::add_row_head(Name& name) const {
  const size_t cell = begin();
  if (cell == 0 || text.at(cell - 1) != '|') return;
  size_t line = cell;
  while (line > 0 && at - line < kReach && text.gap(line) != Gap::line) --line;
  if (text.at(line) != '|') line = text.behind_prefix(line);
  if (text.at(line) != '|') return;
  const size_t head = std::min(text.characters.find('|', line + 1), at);  // the row's only stroke may be its last
  const bool whole = name.words.empty() && head == cell - 1;
  for (size_t i = line + 1; i < head; i = is_alphanumeric(text.at(i)) ? word_end(i) : i + 1) {
    if (!is_alphanumeric(text.at(i))) continue;
    const Says says = meaning(text, i, word_end(i));
    if (whole || ((says == Says::peak || is_other(says)) && !name.has(says))) name.words.push_back(says);
  }
}

/// "step:12", "allocated_gb:45.1", "precision=bf16": the value of another name; no "cuda:0", no "gpu=A100".
bool NameReader::is_value(size_t start, size_t end, const Name& name) const {
  const char before = start > 0 ? text.at(start - 1) : ' ';
  const bool of_place = !name.words.empty() && is_place(name.words.back());
  if (!is_digit(text.at(start))) return before == '=' && text.gap(start) == Gap::none && !of_place;
  return (before == ':' || before == '=') && !(end - start <= 2 && of_place);
}

/// A size before belongs to another name; a unit alone is of what follows.
void NameReader::add(size_t start, size_t end, Name& name) const {
  if (is_digit(text.at(start)) && start > 0 && text.at(start - 1) == '.') return;  // decimals
  if (is_value(start, end, name)) {
    name = {};
    return;
  }
  if (is_digit(text.at(start)) && end - start <= 2 && !name.words.empty() && is_place(name.words.back())) return;
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

bool keep_known(Name& name) {
  size_t kept = name.words.size();
  while (kept > 0 && name.words[kept - 1] != Says::nothing) --kept;
  name.words.erase(name.words.begin(), name.words.begin() + static_cast<ptrdiff_t>(kept));
  name.words.erase(std::remove(name.words.begin(), name.words.end(), Says::link), name.words.end());
  return kept == 0;
}

void cut_time(Name& name) {
  const auto tells_when = [](Says says) { return says == Says::when || says == Says::purpose; };
  name.words.erase(std::find_if(name.words.begin(), name.words.end(), tells_when), name.words.end());
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
  if (name.words.empty() || name.words.size() > kMostNameWords || name.has(Says::other) || name.has(Says::apart))
    return "";
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

}  // namespace vram
