#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace vram {

/// A model or GPU of an organisation's own: what it is called, and the keys that make it.
struct SiteRow {
  std::string id, name, detail;
  std::string share;  // "gpu=h100-sxm5-80gb&net_bw=25&price=1.9"
};

/// What an organisation keeps beside its page: starting points. Picked, they become ordinary keys, so that a link
/// means the same on any other page.
struct Site {
  std::string defaults;                  // share string of a page that was opened without a plan
  std::map<std::string, double> prices;  // USD a GPU-hour, by GPU id
  std::vector<SiteRow> gpus, models;
  std::vector<std::string> faults;  // "gpus[1].plan: ...": left out, and why
};

/// {"defaults": SHARE, "prices": {ID: USD}, "gpus": [{"id", "name", "detail", "plan": SHARE}],
///  "models": [the same, or with "config": a config.json in place of "plan"]}; every member may be absent.
Site read_site(std::string_view json);

}  // namespace vram
