#include "tests/accuracy/serving_said.h"

#include <algorithm>
#include <cstdlib>

#include "engine/text.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

/// "--enable-prefix-caching" and "enable_prefix_caching" are "enable prefix caching".
std::string unmarked(std::string_view said) {
  std::string out;
  for (const char c : said) {
    const bool mark = c == '-' || c == '_' || c == ' ' || c == '=' || c == ':' || c == '"' || c == '\'';
    if (!mark)
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  return out;
}

bool ends_with(const std::string& text, size_t end, std::string_view word) {
  return end >= word.size() && text.compare(end - word.size(), word.size(), word) == 0;
}

bool denied(const std::string& said, size_t begin, size_t end) {
  for (const char* before : {"no ", "not ", "without ", "disable ", "disables ", "disabled ", "disabling "})
    if (ends_with(said, begin, before)) return true;
  for (const char* after : {" off", " is off", " disabled", " is disabled", " was off", " false", " 0", " no"})
    if (said.compare(end, std::string_view(after).size(), after) == 0) return true;
  return false;
}

std::optional<bool> switched_in(const std::string& said, const std::string& thing) {
  std::optional<bool> on;
  for (size_t at = said.find(thing); at != std::string::npos; at = said.find(thing, at + 1))
    on = on.value_or(false) || !denied(said, at, at + thing.size());
  return on;
}

}  // namespace

std::string said_in(const json& c, std::initializer_list<const char*> fields) {
  std::string said;
  for (const char* field : fields) said += "; " + lower(text(c, field));
  return said;
}

std::string said_in_sections(const json& c) {
  std::string said;
  for (const auto& [section, fields] : c.items()) {
    if (!fields.is_object() || section == "measured") continue;
    for (const auto& [field, value] : fields.items())
      if (value.is_string()) said += "; " + lower(value.get<std::string>());
  }
  return said;
}

std::string explained(const json& c) {
  std::string all;
  if (const json* checks = find(c, "checks"); checks && checks->is_array())
    for (const json& check : *checks) all += said_in(check, {"explanation"});
  return all;
}

std::string said_of(const json& c) {
  return said_in(c, {"model", "id", "check", "notes", "flags", "args", "command", "launch", "server_args"});
}

std::string all_said(const json& c) { return said_of(c) + said_in(c, {"gpu"}) + explained(c); }

double number_said(const std::string& said, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    size_t at = said.find(word);
    if (at == std::string::npos) continue;
    at += std::string_view(word).size();
    while (at < said.size() && (said[at] == ' ' || said[at] == '=' || said[at] == ':')) ++at;
    if (at < said.size() && is_digit(said[at])) return std::strtod(said.c_str() + at, nullptr);
  }
  return 0;
}

std::optional<bool> switched(const json& c, std::string_view thing) {
  std::string field(thing);
  std::replace(field.begin(), field.end(), ' ', '_');
  for (const std::string& name : {field, "enable_" + field, field + "_enabled"})
    if (const auto on = flag(c, name)) return on;
  if (const auto off = flag(c, "disable_" + field)) return !*off;
  const std::string wanted = unmarked(thing);
  if (const auto on = switched_in(unmarked(said_of(c)), wanted)) return on;
  return switched_in(unmarked(explained(c)), wanted);
}

double first_of(const json& c, std::initializer_list<const char*> names) {
  for (const char* name : names)
    for (const std::string& path : {"measured." + std::string(name), std::string(name)})
      if (const double value = number(c, path); value > 0) return value;
  return 0;
}

double block_size(const json& c) {
  const double block = number(c, "block_size");
  return block > 0 ? block : first_of(c, {"tokens_per_block"});
}

double stated_length(const json& c) {
  const double length = number(c, "max_model_len");
  return length > 0 ? length
                    : first_of(c, {"n_ctx", "num_ctx", "ctx_size", "max_len", "max_seq_len", "context_len",
                                   "context_length", "ctx", "n_kv_max", "cells"});
}

}  // namespace vram::accuracy
