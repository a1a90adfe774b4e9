#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/model/config_json.h"
#include "engine/model/traits.h"

namespace vram {
namespace {

using nlohmann::json;

json as_json(double value) {
  const bool whole = std::fabs(value) <= 9007199254740992.0 && value == std::floor(value);
  return whole ? json(static_cast<int64_t>(value)) : json(value);
}

/// In ASCII, whatever the bytes.
std::string text_of(const json& object) { return object.dump(-1, ' ', true, json::error_handler_t::replace); }

template <class Owner>
json member_json(const Owner& owner, const Trait<Owner>& trait) {
  if (const auto* number = std::get_if<double Owner::*>(&trait.member)) return as_json(owner.**number);
  if (const auto* flag = std::get_if<bool Owner::*>(&trait.member)) return owner.**flag;
  if (const auto* text = std::get_if<std::string Owner::*>(&trait.member)) return owner.**text;
  json list = json::array();
  for (double value : owner.**std::get_if<std::vector<double> Owner::*>(&trait.member)) list.push_back(as_json(value));
  return list;
}

template <class Owner>
json differences(const Owner& owner, const Owner& usual, std::span<const Trait<Owner>> traits) {
  json out = json::object();
  for (const Trait<Owner>& trait : traits)
    if (json value = member_json(owner, trait); value != member_json(usual, trait)) out[trait.name] = std::move(value);
  return out;
}

}  // namespace

std::string write_arch(const Architecture& a) {
  json out = json::object();
  Architecture usual;  // what the model_type alone says
  if (!a.model_type.empty()) {
    out["model_type"] = a.model_type;
    usual = read_config(text_of(out), true).architecture;
  }
  out.update(differences(a, usual, architecture_traits()));
  if (json mixer = differences(a.linear, usual.linear, mixer_traits()); !mixer.empty())
    out["linear"] = std::move(mixer);
  return out.empty() ? "" : text_of(out);
}

}  // namespace vram
