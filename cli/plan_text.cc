#include "cli/plan_text.h"

#include <algorithm>

#include "cli/files.h"
#include "cli/say.h"
#include "engine/advice/launch.h"
#include "engine/model/config_json.h"
#include "engine/plan/percent.h"
#include "engine/plan/plan.h"
#include "engine/plan/texts.h"

namespace cli {
namespace {

std::string key_of(std::string_view pair) { return vram::percent_decode(pair.substr(0, pair.find('='))); }

/// `share` without its pairs of a key that `overridden` knows.
template <class Predicate>
std::string without(std::string_view share, Predicate overridden) {
  std::string kept;
  for (const std::string_view pair : vram::split(vram::share_of_url(share), '&')) {
    if (pair.empty() || overridden(key_of(pair))) continue;
    if (!kept.empty()) kept += '&';
    kept += pair;
  }
  return kept;
}

/// One share string on top of another.
std::string on_top(std::string_view base, std::string_view top) {
  const std::vector<std::string_view> pairs = vram::split(vram::share_of_url(top), '&');
  std::string joined = without(base, [&](const std::string& key) {
    return std::any_of(pairs.begin(), pairs.end(), [&](std::string_view pair) { return key_of(pair) == key; });
  });
  return joined.append("&").append(vram::share_of_url(top));
}

std::optional<std::string> config_share(const std::string& path) {
  const std::optional<std::string> json = read_file(path);
  if (!json) {
    say("cannot read " + path);
    return std::nullopt;
  }
  const vram::ConfigReading reading = vram::read_config(*json);
  for (const vram::ModelFault& fault : reading.faults) {
    const std::string field = fault.field.empty() ? "" : fault.field + ": ";
    const std::string given = fault.given.empty() ? "" : fault.given + ": ";
    say(path + ": " + (fault.text.rfind(field, 0) == 0 ? "" : field) + given + fault.text);
  }
  if (!reading.ok) {
    if (reading.faults.empty()) say(path + ": refused");
    return std::nullopt;
  }
  return vram::write_plan(vram::plan_of_architecture(reading.architecture), true);
}

/// A launch command or configuration on top of a share string.
std::optional<std::string> launch_share(const std::string& path, const std::string& base) {
  const std::optional<std::string> text = read_file(path);
  if (!text) {
    say("cannot read " + path);
    return std::nullopt;
  }
  const vram::LaunchReading reading = vram::read_launch(*text, vram::read_plan(base).plan);
  for (const vram::Message& message : reading.messages) say(path + ": " + message.text);
  if (reading.programs.empty()) {
    say(path + ": no launch command or configuration that is known here");
    return std::nullopt;
  }
  for (const std::string& flag : reading.unsaid) say(path + ": no key says " + flag);
  return vram::write_plan(reading.plan, true);
}

}  // namespace

std::string with_keys(std::string_view share, const std::vector<std::pair<std::string, std::string>>& keys) {
  if (keys.empty()) return std::string(share);
  std::string text = without(share, [&](const std::string& key) {
    return std::any_of(keys.begin(), keys.end(), [&](const auto& flag) { return flag.first == key; });
  });
  for (const auto& [name, value] : keys) text.append("&").append(name).append("=").append(vram::percent_encode(value));
  return text;
}

std::optional<std::string> plan_text(const Arguments& arguments) {
  if (arguments.positional.size() > 1) {
    say("one share string at a time; put it in quotes, since a shell takes & for itself");
    return std::nullopt;
  }
  std::string share = arguments.positional.empty() ? "" : arguments.positional.front();
  if (arguments.config) {
    const std::optional<std::string> base = config_share(*arguments.config);
    if (!base) return std::nullopt;
    share = on_top(*base, share);
  }
  if (arguments.launch) {
    const std::optional<std::string> base = launch_share(*arguments.launch, arguments.config ? share : "");
    if (!base) return std::nullopt;
    share = on_top(*base, arguments.positional.empty() ? "" : arguments.positional.front());
  }
  return with_keys(share, arguments.keys);
}

}  // namespace cli
