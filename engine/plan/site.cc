#include "engine/plan/site.h"

#include <nlohmann/json.hpp>

#include "engine/model/config_json.h"
#include "engine/plan/plan.h"

namespace vram {
namespace {

using nlohmann::json;

std::string text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// The share string, if it can be used whole: a site's owner should hear of a slip, not find it in the figures.
std::string checked(const std::string& share, const std::string& where, Site& site) {
  const PlanReading reading = read_plan(share);
  for (const Message& message : reading.messages) site.faults.push_back(where + ": " + message.text);
  return reading.messages.empty() ? share : "";
}

std::string share_of_config(const json& config, const std::string& where, Site& site) {
  const ConfigReading reading = read_config(config.dump());
  if (reading.ok) return write_plan(plan_of_architecture(reading.architecture), false);
  for (const ModelFault& fault : reading.faults)
    site.faults.push_back(where + (fault.field.empty() ? "" : "." + fault.field) + ": " + fault.text);
  return "";
}

SiteRow read_row(const json& object, const std::string& where, Site& site) {
  if (!object.is_object()) {
    site.faults.push_back(where + ": not an object of id, name and plan");
    return {};
  }
  SiteRow row{text(object, "id"), text(object, "name"), text(object, "detail"), ""};
  if (row.id.empty()) site.faults.push_back(where + ".id: missing");
  if (row.name.empty()) row.name = row.id;
  const auto config = object.find("config");
  if (config != object.end())
    row.share = share_of_config(*config, where + ".config", site);
  else if (!text(object, "plan").empty())
    row.share = checked(text(object, "plan"), where + ".plan", site);
  else
    site.faults.push_back(where + ".plan: missing, the keys that \"" + row.name + "\" sets");
  return row;
}

std::vector<SiteRow> read_rows(const json& root, const char* member, Site& site) {
  std::vector<SiteRow> rows;
  const auto list = root.find(member);
  if (list == root.end()) return rows;
  if (!list->is_array()) {
    site.faults.push_back(std::string(member) + ": not a list");
    return rows;
  }
  for (size_t i = 0; i < list->size(); i++) {
    SiteRow row = read_row((*list)[i], std::string(member) + "[" + std::to_string(i) + "]", site);
    if (!row.id.empty() && !row.share.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

void read_prices(const json& root, Site& site) {
  const auto prices = root.find("prices");
  if (prices == root.end() || !prices->is_object()) return;
  for (const auto& [gpu, price] : prices->items()) {
    const std::string share = "gpu=" + gpu + "&price=" + price.dump();
    if (!checked(share, "prices." + gpu, site).empty()) site.prices[gpu] = price.get<double>();
  }
}

}  // namespace

Site read_site(std::string_view text_of_file) {
  Site site;
  const json root = json::parse(text_of_file, nullptr, false);
  if (!root.is_object()) {
    site.faults.emplace_back("site.json: not a JSON object");
    return site;
  }
  if (!text(root, "defaults").empty()) site.defaults = checked(text(root, "defaults"), "defaults", site);
  read_prices(root, site);
  site.gpus = read_rows(root, "gpus", site);
  site.models = read_rows(root, "models", site);
  return site;
}

}  // namespace vram
