#include "cli/arguments.h"

#include <algorithm>

#include "engine/plan/near.h"
#include "engine/plan/plan.h"

namespace cli {
namespace {

constexpr std::string_view kFlags[] = {"config", "launch",   "format", "check",  "log",
                                       "top",    "timeline", "help",   "version"};

/// "--name=value", "--name": what stands between the dashes and the sign, and what is behind it.
struct Flag {
  std::string name;
  std::optional<std::string> value;
};

Flag split_flag(std::string_view text) {
  text.remove_prefix(2);
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {std::string(text), std::nullopt};
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::string underscored(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string dashed(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

std::string unknown_flag(const std::string& name) {
  std::vector<std::string> names(std::begin(kFlags), std::end(kFlags));
  for (const vram::Field& field : vram::fields()) names.push_back(dashed(field.name));
  const std::vector<std::string_view> views(names.begin(), names.end());
  return "unknown flag --" + name + vram::did_you_mean(name, views);
}

struct Reader {
  Arguments out;
  std::vector<std::string> texts;
  size_t next = 0;

  /// The flag's value: behind its sign, else the next argument.
  std::string value_of(const Flag& flag) {
    if (flag.value) return *flag.value;
    const bool given = next < texts.size() && texts[next].rfind("--", 0) != 0;
    if (given) return texts[next++];
    out.fault = "--" + flag.name + " needs a value";
    return "";
  }

  /// Flags without a value. False: it is another one.
  bool read_switch(const Flag& flag) {
    if (flag.name == "check") {
      out.check = flag.value ? Check::tight : Check::verdict;
      if (flag.value && *flag.value != "tight") out.fault = "--check takes no value but 'tight'";
      return true;
    }
    bool* const place = flag.name == "timeline"  ? &out.timeline
                        : flag.name == "help"    ? &out.help
                        : flag.name == "version" ? &out.version
                                                 : nullptr;
    if (place == nullptr) return false;
    *place = true;
    if (flag.value) out.fault = "--" + flag.name + " takes no value";
    return true;
  }

  void read_flag(const Flag& flag) {
    if (read_switch(flag)) return;
    std::optional<std::string>* const place = flag.name == "config"   ? &out.config
                                              : flag.name == "launch" ? &out.launch
                                              : flag.name == "format" ? &out.format
                                              : flag.name == "log"    ? &out.log
                                              : flag.name == "top"    ? &out.top
                                                                      : nullptr;
    if (place != nullptr) {
      *place = value_of(flag);
    } else if (vram::find_field(underscored(flag.name)) != nullptr) {
      out.keys.emplace_back(underscored(flag.name), value_of(flag));
    } else {
      out.fault = unknown_flag(flag.name);
    }
  }

  void read() {
    while (next < texts.size() && out.fault.empty()) {
      const std::string text = texts[next++];
      if (text == "-h") {
        out.help = true;
      } else if (text.size() > 2 && text.rfind("--", 0) == 0) {
        read_flag(split_flag(text));
      } else if (text.size() > 1 && text[0] == '-') {
        out.fault = "unknown flag " + text;
      } else if (out.command.empty()) {
        out.command = text;
      } else {
        out.positional.push_back(text);
      }
    }
  }
};

}  // namespace

Arguments read_arguments(int count, char** texts) {
  Reader reader;
  reader.texts.assign(texts + std::min(count, 1), texts + count);
  reader.read();
  return reader.out;
}

}  // namespace cli
