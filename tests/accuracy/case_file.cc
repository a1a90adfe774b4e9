#include "tests/accuracy/case_file.h"

#include <fstream>
#include <sstream>

#include "engine/units.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {

json read_cases(const std::string& path, std::string* error) {
  std::ifstream file(path);
  std::stringstream content;
  content << file.rdbuf();
  if (!file) {
    *error = path + " cannot be read";
    return nullptr;
  }
  json cases = json::parse(content.str(), nullptr, false);
  if (cases.is_object() && cases.contains("cases")) return cases;
  if (cases.is_array()) return cases;
  *error = path + " is no list of cases in JSON";
  return nullptr;
}

const json* find(const json& object, std::string_view path) {
  const json* at = &object;
  while (true) {
    const size_t dot = path.find('.');
    const std::string name(path.substr(0, dot));
    if (!at->is_object()) return nullptr;
    const auto member = at->find(name);
    if (member == at->end() || member->is_null()) return nullptr;
    at = &*member;
    if (dot == std::string_view::npos) return at;
    path.remove_prefix(dot + 1);
  }
}

std::string text(const json& object, std::string_view path) {
  const json* value = find(object, path);
  if (!value) return "";
  if (value->is_string()) return value->get<std::string>();
  if (value->is_number()) return write_number(value->get<double>());
  return "";
}

double number(const json& object, std::string_view path) {
  const json* value = find(object, path);
  if (!value) return 0;
  if (value->is_number()) return value->get<double>();
  if (value->is_string()) return first_number(value->get<std::string>()).value_or(0);
  return 0;
}

std::optional<bool> flag(const json& object, std::string_view path) {
  const json* value = find(object, path);
  if (!value || !value->is_boolean()) return std::nullopt;
  return value->get<bool>();
}

}  // namespace vram::accuracy
