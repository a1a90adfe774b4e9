#include "engine/advice/launch_flags.h"

#include <algorithm>

#include "engine/advice/launch_shell.h"
#include "engine/plan/percent.h"
#include "engine/plan/texts.h"
#include "engine/plan/values.h"
#include "engine/text.h"
#include "engine/units.h"

namespace vram {
namespace {

constexpr size_t kShownBytes = 80;
constexpr std::string_view kDepends = "?";

bool is_flag(std::string_view word) {
  if (word.size() < 2 || word[0] != '-') return false;
  const char c = word[1];
  return c == '-' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string canonical_name(std::string_view word) {
  while (!word.empty() && word[0] == '-') word.remove_prefix(1);
  std::string name(word);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

bool names_hold(std::string_view names, std::string_view name) {
  for (const std::string_view each : split(names, ' ')) {
    if (each == name) return true;
  }
  return false;
}

/// Ours for theirs; empty where the row's words have it not.
std::optional<std::string> translated(std::string_view words, std::string_view theirs) {
  for (const std::string_view pair : split(words, ' ')) {
    const size_t equals = pair.find('=');
    if (lower_case(pair.substr(0, equals)) == lower_case(theirs)) return std::string(pair.substr(equals + 1));
  }
  return std::nullopt;
}

/// Theirs for ours, the first pair that has it.
std::optional<std::string> translated_back(std::string_view words, std::string_view ours) {
  for (const std::string_view pair : split(words, ' ')) {
    const size_t equals = pair.find('=');
    if (pair.substr(equals + 1) == ours) return std::string(pair.substr(0, equals));
  }
  return std::nullopt;
}

/// A flag that is on where it stands, by its name: a word behind it is its value only where it says yes or no.
bool is_switch(std::string_view name) {
  constexpr std::string_view kBegins[] = {"enable-", "disable-",          "no-",           "use-",
                                          "skip-",   "trust-remote-code", "enforce-eager", "async-scheduling"};
  return std::any_of(std::begin(kBegins), std::end(kBegins),
                     [&](std::string_view begin) { return name.starts_with(begin); });
}

bool says_yes_or_no(std::string_view word) {
  const std::string low = lower_case(word);
  constexpr std::string_view kWords[] = {"true", "false", "1", "0", "yes", "no", "auto", "enable", "disable"};
  return std::find(std::begin(kWords), std::end(kWords), low) != std::end(kWords);
}

/// Does the word behind this flag belong to it?
bool takes(const std::string& name, const std::string& word, std::initializer_list<std::span<const FlagRow>> tables) {
  for (const std::span<const FlagRow> rows : tables) {
    for (const FlagRow& row : rows) {
      if (!names_hold(row.names, name)) continue;
      const bool is_switch = row.words.starts_with('=');
      return !is_switch || (!word.empty() && translated(row.words, word).has_value());
    }
  }
  return !is_switch(name) || says_yes_or_no(word);
}

/// In the launcher's unit: sizes are GiB there, where ours may have any.
std::string with_unit(Key key, const std::string& value) {
  const FieldKind kind = field(key).kind;
  const bool size = kind == FieldKind::size || kind == FieldKind::size_or_share;
  return size && read_number(value) ? value + "GiB" : value;
}

}  // namespace

const GivenFlag* GivenFlags::find(std::string_view names) {
  GivenFlag* found = nullptr;
  for (GivenFlag& flag : flags) {
    if (!names_hold(names, flag.name)) continue;
    flag.used = true;
    found = &flag;
  }
  return found;
}

std::string GivenFlags::value(std::string_view names) {
  const GivenFlag* flag = find(names);
  return flag != nullptr ? flag->value : "";
}

double GivenFlags::number(std::string_view names, double otherwise) {
  const std::optional<double> number = read_number(value(names));
  return number && *number > 0 ? *number : otherwise;
}

void GivenFlags::add(std::string_view name, std::string_view value) {
  flags.push_back({canonical_name(name), std::string(value), std::string(name) + ": " + std::string(value), false});
}

GivenFlags read_flags(std::span<const std::string> words, std::initializer_list<std::span<const FlagRow>> tables) {
  GivenFlags given;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!is_flag(word)) {
      given.words.push_back(word);
      continue;
    }
    const size_t equals = word.find('=');
    GivenFlag flag{canonical_name(word.substr(0, equals)), "", word, false};
    if (equals != std::string::npos) {
      flag.value = word.substr(equals + 1);
    } else if (i + 1 < words.size() && !is_flag(words[i + 1]) && takes(flag.name, words[i + 1], tables)) {
      flag.value = words[++i];
      flag.text += " " + flag.value;
    }
    given.flags.push_back(std::move(flag));
  }
  return given;
}

void LaunchReader::set(Key key, std::string_view value, std::string_view flag) {
  const std::optional<Value> read = read_value(field(key), value);
  if (!read) {
    note(key, value,
         (flag.empty() ? "" : std::string(flag) + ": ") + "'" + printable(value, kShownBytes) + "' is not " +
             accepted_values(field(key)));
    return;
  }
  store_value(plan(), key, *read);
  plan().given.set(static_cast<size_t>(key));
  if (!flag.empty()) out_.settings.push_back({std::string(flag), key, value_text(plan(), key)});
}

void LaunchReader::clear(Key key) { plan().given.reset(static_cast<size_t>(key)); }

void LaunchReader::note(Key key, std::string_view given, const std::string& text) {
  const std::string name(field(key).name);
  out_.messages.push_back({name, printable(given, kShownBytes), name + ": " + text});
}

void LaunchReader::resolve_now() { resolve(plan()); }

void LaunchReader::read_table(std::span<const FlagRow> rows, GivenFlags& given) {
  std::bitset<kKeyCount> done;
  for (const FlagRow& row : rows) {
    const auto index = static_cast<size_t>(row.key);
    const GivenFlag* flag = given.find(row.names);
    if (flag == nullptr || done.test(index)) continue;
    std::string value = flag->value;
    if (!row.words.empty()) {
      const std::optional<std::string> ours = translated(row.words, value);
      if (!ours) {
        out_.unsaid.push_back(printable(flag->text, kShownBytes));
        continue;
      }
      value = *ours;
    }
    done.set(index);
    if (value.empty()) {
      clear(row.key);
    } else {
      set(row.key, with_unit(row.key, value), printable(flag->text, kShownBytes));
    }
  }
  for (const FlagRow& row : rows) {
    const auto index = static_cast<size_t>(row.key);
    if (done.test(index) || row.absent == kDepends) continue;
    done.set(index);
    if (row.absent.empty()) {
      clear(row.key);
    } else {
      set(row.key, row.absent);
    }
  }
}

void LaunchReader::read_model(std::string_view name, std::string_view flag) {
  const std::string preset = preset_of_model_name(name);
  model_name_ = name;
  if (named_model_ && preset == plan().model) return;  // a script's server names what its training shaped
  named_model_ = true;
  const bool keeps_shape = preset.empty() && plan().model == "custom";
  for (const Field& row : fields()) {
    if (row.group == Group::model && !keeps_shape) clear(row.key);
  }
  set(Key::model, preset.empty() ? "custom" : preset, flag);
  if (preset.empty()) {
    note(Key::model, name,
         "'" + printable(name, kShownBytes) + "' is no model of the presets; its config.json says what it is");
  }
}

void LaunchReader::read_format_of_model() {
  const std::string format = format_in_name(model_name_);
  const bool either = plan().weights == "fp8" && format == "nvfp4";  // of ModelOpt, whose files are of one or the other
  if (plan().has(Key::weights) && !either) return;
  if (!format.empty()) set(Key::weights, format, printable(model_name_, kShownBytes));
}

void LaunchReader::take_model(std::string_view id, std::string_view flag) {
  named_model_ = true;
  for (const Field& row : fields()) {
    if (row.group == Group::model) clear(row.key);
  }
  set(Key::model, id, flag);
}

void LaunchWriter::said(std::initializer_list<Key> keys) {
  for (const Key key : keys) said_.set(static_cast<size_t>(key));
}

void LaunchWriter::flag(std::string_view name, std::string_view value) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '-', between_words);
  text = dashes + text;
  if (!value.empty()) text += " " + shell_word(value);
  flags.push_back(std::move(text));
}

void LaunchWriter::write_table(std::span<const FlagRow> rows) {
  std::bitset<kKeyCount> done;
  for (const FlagRow& row : rows) {
    const auto index = static_cast<size_t>(row.key);
    if (done.test(index)) continue;
    const std::string ours = plain_value(plan_, row.key);
    const bool usual = row.absent.empty() ? !plan_.has(row.key) : row.absent != kDepends && row.absent == ours;
    const std::optional<std::string> theirs = row.words.empty() ? ours : translated_back(row.words, ours);
    if (!usual && (!theirs || row.names.empty())) continue;
    done.set(index);
    said_.set(index);
    if (!usual) flag(row.names.substr(0, row.names.find(' ')), *theirs);
  }
}

std::string plain_value(const Plan& plan, Key key) {
  const FieldKind kind = field(key).kind;
  const Value value = load_value(plan, key);
  const bool size = kind == FieldKind::size || (kind == FieldKind::size_or_share && !value.is_share);
  return size ? write_number(value.number / kGiB) : value_text(plan, key);
}

std::string read_length(std::string_view text) {
  if (text.size() < 2) return std::string(text);
  const bool binary = text.back() == 'K' || text.back() == 'M' || text.back() == 'G';
  return binary ? std::string(text) + "i" : std::string(text);
}

}  // namespace vram
