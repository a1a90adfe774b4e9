#include "engine/model/config_fields.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/model/aliases.h"
#include "engine/units.h"

namespace vram {

using nlohmann::json;

struct Fields::Node {
  json file = json::object(), defaults = json::object();
};

namespace {

constexpr double kLargest = 9007199254740992.0;  // 2^53
constexpr int kDeepest = 100;                 // objects inside objects: JSON values are copied and freed by recursion
constexpr size_t kLongest = size_t{4} << 20;  // bytes; parsed, a text takes some twenty times its length

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Python writes Infinity and NaN, which are no JSON; no field that matters here holds one.
std::string without_infinities(std::string_view text) {
  std::string out;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\' && i + 1 < text.size()) {
      out += c;
      out += text[++i];
      continue;
    }
    size_t end = i;
    while (!in_string && end < text.size() && is_word(text[end])) ++end;
    const std::string_view word = text.substr(i, end - i);
    if (word == "Infinity" || word == "NaN") {
      if (!out.empty() && out.back() == '-') out.pop_back();
      out += "null";
      i = end - 1;
    } else if (end > i) {
      out += word;
      i = end - 1;
    } else {
      out += c;
    }
  }
  return out;
}

bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') ++i;
    if (in_string) continue;
    if ((c == '{' || c == '[') && ++depth > kDeepest) return true;
    if (c == '}' || c == ']') --depth;
  }
  return false;
}

json parsed(std::string_view text) {
  if (!why_not_parsed(text).empty()) return json(json::value_t::discarded);
  const std::string finite = without_infinities(text);
  return json::parse(std::string_view(finite), nullptr, false);  // as elsewhere: of each type a parser is made
}

const json* member(const json& object, std::string_view name) {
  const auto it = object.find(std::string(name));
  return it == object.end() ? nullptr : &*it;
}

const json* by_any_name(const json& object, const char* name) {
  if (const json* found = member(object, name)) return found;
  for (std::string_view alias : aliases_of(name))
    if (const json* found = member(object, alias)) return found;
  return nullptr;
}

/// The value of a field: the file's, else its class's; null and absent are the same here.
const json* value_of(const json& file, const json& defaults, const char* name) {
  const json* found = by_any_name(file, name);
  if (!found) found = by_any_name(defaults, name);
  return found && !found->is_null() ? found : nullptr;
}

bool usable_number(const json& value) {
  if (!value.is_number()) return false;
  const double number = value.get<double>();
  return number >= 0 && number <= kLargest;
}

bool usable_count(const json& value) {
  return usable_number(value) && value.get<double>() == std::floor(value.get<double>());
}

bool all_equal(const json& list) {
  for (const json& item : list)
    if (item != list.front()) return false;
  return !list.empty();
}

std::string shortened(const json& value) {
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

}  // namespace

std::string why_not_parsed(std::string_view text) {
  const bool long_text = text.size() > kLongest;
  if (!long_text && !too_deep(text)) return "";
  return show_grouped(static_cast<double>(text.size())) + " bytes" +
         (long_text ? "; a config.json of at most 4 MiB is read" : " of objects nested deeper than in any config.json");
}

std::string shown(std::string_view name) {
  std::string text(name.substr(0, 60));
  for (char& c : text) c = c >= ' ' && c <= '~' ? c : '?';
  return text;
}

Fields::Fields(std::shared_ptr<const Node> node, std::vector<ModelFault>* faults)
    : node_(std::move(node)), faults_(faults) {}

Fields::Fields(std::string_view text, std::string_view defaults, std::vector<ModelFault>* faults) : faults_(faults) {
  auto node = std::make_shared<Node>();
  node->file = parsed(text);
  if (!defaults.empty()) node->defaults = json::parse(defaults, nullptr, false);
  node_ = node;
}

bool Fields::is_object() const { return node_->file.is_object(); }

Fields Fields::with_defaults(std::string_view text) const {
  auto node = std::make_shared<Node>(*node_);
  json more = json::parse(text, nullptr, false);
  if (more.is_object()) node->defaults.merge_patch(more);
  return Fields(node, faults_);
}

Fields Fields::section(const char* name) const {
  auto node = std::make_shared<Node>();
  const json* found = value_of(node_->file, node_->defaults, name);
  if (found && found->is_object()) node->file = *found;
  return Fields(node, faults_);
}

std::vector<Fields> Fields::sections(const char* name) const {
  std::vector<Fields> out;
  const json* found = value_of(node_->file, node_->defaults, name);
  if (!found || !found->is_array()) return out;
  for (const json& item : *found) {
    auto node = std::make_shared<Node>();
    if (item.is_object()) node->file = item;
    out.push_back(Fields(node, faults_));
  }
  return out;
}

Fields Fields::hoisted(const char* name) const {
  const json* found = member(node_->file, name);
  if (!found || !found->is_object()) return *this;
  auto node = std::make_shared<Node>(*node_);
  json merged = *found;
  merged.update(node->file);
  node->file = std::move(merged);
  return Fields(node, faults_);
}

bool Fields::given(const char* name) const { return by_any_name(node_->file, name) != nullptr; }
bool Fields::has(const char* name) const { return value_of(node_->file, node_->defaults, name) != nullptr; }

bool Fields::is_list(const char* name) const {
  const json* found = value_of(node_->file, node_->defaults, name);
  return found && found->is_array();
}

bool Fields::is_text(const char* name) const {
  const json* found = value_of(node_->file, node_->defaults, name);
  return found && found->is_string();
}

bool Fields::is_flag(const char* name) const {
  const json* found = value_of(node_->file, node_->defaults, name);
  return found && found->is_boolean();
}

double Fields::count(const char* name, double otherwise) const {
  const json* found = value_of(node_->file, node_->defaults, name);
  if (found && found->is_array() && all_equal(*found)) found = &found->front();
  if (!found) return otherwise;
  if (usable_count(*found)) return found->get<double>();
  fault(name, found->is_array() ? "differs from layer to layer, which is not modelled for this field"
                                : "not a whole number from 0 to 2^53");
  return otherwise;
}

double Fields::number(const char* name, double otherwise) const {
  const json* found = value_of(node_->file, node_->defaults, name);
  if (!found) return otherwise;
  if (usable_number(*found)) return found->get<double>();
  fault(name, "not a number from 0 to 2^53");
  return otherwise;
}

double Fields::signed_count(const char* name) const {
  const json* found = value_of(node_->file, node_->defaults, name);
  if (!found || !found->is_number()) return 0;
  const double value = found->get<double>();
  return std::fabs(value) <= kLargest && value == std::floor(value) ? value : 0;
}

bool Fields::flag(const char* name, bool otherwise) const {
  const json* found = value_of(node_->file, node_->defaults, name);
  if (!found) return otherwise;
  if (found->is_boolean()) return found->get<bool>();
  if (usable_number(*found)) return found->get<double>() != 0;
  fault(name, "neither true nor false");
  return otherwise;
}

std::string Fields::text(const char* name, const char* otherwise) const {
  const json* found = value_of(node_->file, node_->defaults, name);
  if (!found) return otherwise;
  if (found->is_string()) return found->get<std::string>();
  fault(name, "not a text");
  return otherwise;
}

std::vector<double> Fields::counts(const char* name) const {
  const json* found = value_of(node_->file, node_->defaults, name);
  std::vector<double> out;
  if (!found) return out;
  const json list = found->is_array() ? *found : json::array({*found});
  for (const json& item : list) {
    if (item.is_boolean()) {
      out.push_back(item.get<bool>() ? 1 : 0);
    } else if (usable_count(item)) {
      out.push_back(item.get<double>());
    } else {
      fault(name, "not a list of whole numbers from 0 to 2^53");
      return {};
    }
  }
  return out;
}

std::vector<std::string> Fields::texts(const char* name) const {
  const json* found = value_of(node_->file, node_->defaults, name);
  std::vector<std::string> out;
  if (!found) return out;
  const json list = found->is_array() ? *found : json::array({*found});
  for (const json& item : list) {
    if (!item.is_string()) {
      fault(name, "not a list of texts");
      return {};
    }
    out.push_back(item.get<std::string>());
  }
  return out;
}

std::vector<std::string> Fields::names() const {
  std::vector<std::string> out;
  if (!is_object()) return out;
  for (const auto& item : node_->file.items()) out.push_back(item.key());
  return out;
}

bool Fields::decided(const char* directive, bool otherwise) const {
  if (!is_text(directive)) return flag(directive, otherwise);
  const std::string name = text(directive);
  return name[0] == '!' ? !flag(name.c_str() + 1) : flag(name.c_str());
}

void Fields::fault(const char* name, const std::string& text) const {
  if (!faults_) return;
  const json* found = by_any_name(node_->file, name);
  std::string as_spelled = name;
  if (found && !member(node_->file, name))
    for (std::string_view alias : aliases_of(name))
      if (member(node_->file, alias) == found) as_spelled = alias;
  for (const ModelFault& said : *faults_)
    if (said.field == as_spelled) return;
  faults_->push_back({as_spelled, found ? shortened(*found) : "", text});
}

}  // namespace vram
