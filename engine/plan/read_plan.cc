#include <algorithm>
#include <cmath>

#include "engine/plan/model_messages.h"
#include "engine/plan/near.h"
#include "engine/plan/percent.h"
#include "engine/plan/plan.h"
#include "engine/plan/texts.h"
#include "engine/plan/values.h"
#include "engine/text.h"
#include "engine/units.h"

namespace vram {
namespace {

constexpr std::string_view kVersion = "v";
constexpr size_t kShownBytes = 60;     // of a value, inside a sentence
constexpr size_t kGivenBytes = 10000;  // of a value, in `given`
constexpr size_t kMostMessages = 100;  // of one text; a link may be a megabyte of keys

struct Reader {
  Plan plan;
  std::vector<Message> messages;
  std::vector<std::pair<Key, size_t>> unusable;  // key, index of its message: the default is named once it is known
  std::bitset<kKeyCount> seen;
  bool seen_version = false;
  size_t unsaid = 0;  // messages beyond kMostMessages

  bool may_say() {
    if (messages.size() < kMostMessages) return true;
    ++unsaid;
    return false;
  }

  void say(std::string_view key, std::string_view given, const std::string& text) {
    const std::string name = printable(key, kShownBytes);
    messages.push_back({name, printable(given, kGivenBytes), name + ": " + text});
  }

  static std::string quoted(std::string_view value) { return "'" + printable(value, kShownBytes) + "'"; }

  void read_pair(std::string_view pair) {
    const size_t equals = std::min(pair.find('='), pair.size());
    const std::string name = percent_decode(pair.substr(0, equals));
    const std::string value = percent_decode(pair.substr(std::min(equals + 1, pair.size())));
    if (name == kVersion) return read_version_key(value);
    if (const Field* row = find_field(name)) return read_key(*row, value);
    read_unknown(name, value, pair);
  }

  void read_version_key(const std::string& value) {
    if (seen_version && may_say())
      say(kVersion, value, "given more than once; the last one, " + quoted(value) + ", counts");
    seen_version = true;
    const auto version = read_number(value);
    if ((!version || *version != 1) && may_say()) {
      const bool later = version && *version > 1 && *version == std::floor(*version);
      say(kVersion, value,
          later ? "version " + quoted(value) + " is later than 1, the one read here; what it added is kept, not used"
                : quoted(value) + " is no version; 1 is read");
    }
  }

  void read_key(const Field& row, const std::string& value) {
    const auto index = static_cast<size_t>(row.key);
    if (seen.test(index) && may_say())
      say(row.name, value, "given more than once; the last one, " + quoted(value) + ", counts");
    seen.set(index);
    if (const std::optional<Value> read = read_value(row, value)) {
      store_value(plan, row.key, *read);
      plan.given.set(index);
      return;
    }
    if (row.key == Key::model || row.key == Key::gpu) {  // no other one stands for it
      plan.given.set(index);
      (row.key == Key::model ? plan.model : plan.gpu) = value;
      return;
    }
    plan.given.reset(index);
    if (!may_say()) return;
    unusable.push_back({row.key, messages.size()});
    say(row.name, value, quoted(value) + " is not " + accepted_values(row));
    if (row.key == Key::gpus_among) messages.back().text += ": " + unknown_gpu_among(value);
  }

  void read_unknown(const std::string& name, const std::string& value, std::string_view pair) {
    plan.unknown.emplace_back(name, one_line(pair));
    if (!may_say()) return;
    std::vector<std::string_view> names;
    for (const Field& row : fields()) names.push_back(row.name);
    if (name.empty()) {
      messages.push_back(
          {"", printable(value, kGivenBytes), quoted(pair) + " has no key before '='; it is kept, not used"});
    } else {
      say(name, value, "no key of version 1; it is kept, not used" + did_you_mean(name, names));
    }
  }

  void count_unsaid() {
    if (unsaid > 0)
      messages.push_back(
          {"", "",
           counted(static_cast<double>(unsaid), "more fault", "more faults") + " of this text, not named one by one"});
  }

  /// "...; 1 is used": of a key that a later repetition gave a usable value, that one.
  void name_fallbacks() {
    for (const auto& [key, index] : unusable) {
      const Field& row = field(key);
      std::string used = value_text(plan, key);
      const bool none = used.empty() || (used == "0" && (row.least > 0 || !row.has_default));
      if (row.kind == FieldKind::size) used = show_bytes(read_size(used, kGiB).value_or(0));
      messages[index].text += none ? "; it is left out" : "; " + used + " is used";
    }
  }

  /// Releases are what vllm, sglang and trtllm have, builds and months llama.cpp.
  void name_foreign_version() {
    if (!plan.has(Key::engine_version)) return;
    const std::string& version = plan.engine_version;
    const bool of_llamacpp = version.starts_with("b") || (version.size() > 4 && version[4] == '-');
    const bool released = plan.engine == Engine::vllm || plan.engine == Engine::sglang || plan.engine == Engine::trtllm;
    if (released && of_llamacpp)
      say("engine_version", version,
          quoted(version) + " is no release of this engine, as 0.9.1 is; the newest is taken");
    if (plan.engine == Engine::llamacpp && version.find('.') != version.npos)
      say("engine_version", version,
          quoted(version) + " is no build or month of llama.cpp, as b9849 and 2026-03 are; the newest is taken");
  }

  void name_unbuilt() {
    for (const Field& row : fields()) {
      if (row.built.empty() || !plan.has(row.key)) continue;
      const std::string value = value_text(plan, row.key);
      say(row.name, value, "kept, but " + std::string(row.built));
    }
  }
};

}  // namespace

PlanReading read_plan(std::string_view share) {
  Reader reader;
  for (const std::string_view pair : split(share_of_url(trimmed(share)), '&')) {
    if (!trimmed(pair).empty()) reader.read_pair(trimmed(pair));
  }
  resolve(reader.plan);
  reader.name_fallbacks();
  reader.count_unsaid();
  reader.name_foreign_version();
  reader.name_unbuilt();
  add_model_messages(reader.plan, reader.messages);
  PlanReading reading;
  reading.answerable = reader.plan.subject != nullptr && reader.plan.accelerator != nullptr;
  reading.plan = std::move(reader.plan);
  reading.messages = std::move(reader.messages);
  return reading;
}

}  // namespace vram
