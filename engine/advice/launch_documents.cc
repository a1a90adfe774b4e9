#include "engine/advice/launch_documents.h"

#include <nlohmann/json.hpp>

#include "engine/plan/texts.h"
#include "engine/text.h"

namespace vram {
namespace {

using nlohmann::json;

constexpr int kDeepest = 20;

std::string scalar(const json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>();
  return value.dump(-1, ' ', true, json::error_handler_t::replace);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as kDeepest
void flatten(const json& value, const std::string& path, int depth, FlatDocument& out) {
  if (value.is_object()) {
    if (depth == kDeepest) return;
    for (const auto& [name, member] : value.items()) {
      flatten(member, path.empty() ? name : path + "." + name, depth + 1, out);
    }
    return;
  }
  if (!value.is_array()) {
    out.emplace_back(path, scalar(value));
    return;
  }
  std::string list;
  for (const json& element : value) {
    if (element.is_primitive()) list.append(list.empty() ? "" : ",").append(scalar(element));
  }
  out.emplace_back(path, list);
}

/// Without quotes, brackets and a comment behind it.
std::string plain_value(std::string_view text) {
  text = trimmed(text);
  if (!text.empty() && (text[0] == '"' || text[0] == '\'')) {
    const size_t end = text.find(text[0], 1);
    return std::string(text.substr(1, end == std::string_view::npos ? end : end - 1));
  }
  const bool list = !text.empty() && text[0] == '[';
  if (const size_t comment = text.find('#'); comment != std::string_view::npos) text = trimmed(text.substr(0, comment));
  if (!list) return std::string(text);
  std::string out;
  for (const char c : text) {
    if (c != '[' && c != ']' && c != '"' && c != '\'' && c != ' ') out += c;
  }
  return out;
}

}  // namespace

FlatDocument read_json_document(std::string_view text) {
  FlatDocument out;
  const json document = json::parse(text.begin(), text.end(), nullptr, false, true);
  if (document.is_object()) flatten(document, "", 0, out);
  return out;
}

FlatDocument read_toml_document(std::string_view text) {
  FlatDocument out;
  std::string section;
  for (std::string_view line : split(text, '\n')) {
    line = trimmed(line);
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[') {
      section = std::string(trimmed(line.substr(1, line.find(']') - 1))) + ".";
      continue;
    }
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    out.emplace_back(section + std::string(trimmed(line.substr(0, equals))), plain_value(line.substr(equals + 1)));
  }
  return out;
}

FlatDocument read_yaml_document(std::string_view text) {
  FlatDocument out;
  std::vector<std::pair<size_t, std::string>> above;  // indentation, name
  for (const std::string_view line : split(text, '\n')) {
    const std::string_view content = trimmed(line);
    const size_t indent = line.find_first_not_of(' ');
    const size_t colon = content.find(':');
    if (content.empty() || content[0] == '#' || content[0] == '-' || colon == std::string_view::npos) continue;
    while (!above.empty() && above.back().first >= indent) above.pop_back();
    std::string path;
    for (const auto& [depth, name] : above) path += name + ".";
    const std::string name = plain_value(content.substr(0, colon));
    const std::string value = plain_value(content.substr(colon + 1));
    if (value.empty()) {
      above.emplace_back(indent, name);
    } else {
      out.emplace_back(path + name, value);
    }
  }
  return out;
}

FlatDocument read_document(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  if (text[first] == '{') return read_json_document(text);
  for (std::string_view line : split(text, '\n')) {
    line = trimmed(line);
    if (line.empty() || line[0] == '#' || line == "---") continue;
    if (line[0] == '[') return read_toml_document(text);
    // A name comes first, and its sign with nothing between: a command has spaces before either.
    const size_t sign = line.find_first_of("=: ");
    if (sign == std::string_view::npos) return {};
    const size_t behind = line.find_first_not_of(' ', sign);
    if (line[sign] == ':') return read_yaml_document(text);
    return behind != std::string_view::npos && line[behind] == '=' ? read_toml_document(text) : FlatDocument{};
  }
  return {};
}

}  // namespace vram
