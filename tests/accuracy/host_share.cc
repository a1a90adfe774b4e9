#include "tests/accuracy/host_share.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "tests/accuracy/cases.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

std::optional<double> share_of(const std::string& name, const json& value) {
  if (value.is_number() && name.rfind("cpu_share", 0) == 0) return value.get<double>();
  const std::string said = value.is_string() ? lower(value.get<std::string>()) : "";
  double cpu = 0, gpu = 0;
  const size_t at = said.find("cpu/gpu"), begin = said.rfind(' ', at > 1 ? at - 2 : 0) + 1;
  const bool printed = at != std::string::npos && std::sscanf(said.c_str() + begin, "%lf%%/%lf%%", &cpu, &gpu) == 2;
  return printed ? std::optional<double>(cpu / 100) : std::nullopt;
}

/// What of a field's name follows "cpu_share", "split", "processor".
std::string rest_of(const std::string& name) {
  const size_t share = name.find("share"), from = share == std::string::npos ? 0 : share;
  const size_t at = name.find('_', from);
  return at == std::string::npos ? "" : name.substr(at);
}

}  // namespace

std::optional<double> host_share(const json& c, const std::string& figure) {
  std::optional<double> found;
  const auto look = [&](const json& fields) {
    for (const auto& [name, value] : fields.items()) {
      const std::optional<double> share = share_of(name, value);
      if (share && *share > 0 && *share < 1 && figure.find(rest_of(name)) != std::string::npos) found = share;
    }
  };
  look(c);
  if (const json* measured = find(c, "measured"); measured != nullptr && measured->is_object()) look(*measured);
  return found;
}

}  // namespace vram::accuracy
