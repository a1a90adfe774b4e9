#include "tests/accuracy/figure_spans.h"

#include <algorithm>

#include "engine/preset_table.h"
#include "engine/text.h"
#include "tests/accuracy/load_words.h"
#include "tests/accuracy/map_training.h"
#include "tests/accuracy/model_kin.h"
#include "tests/accuracy/model_name.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

using Parts = std::vector<std::string>;

constexpr size_t kLongest = 4;  // parts of one name

bool has_digit(const std::string& part) {
  return std::any_of(part.begin(), part.end(), [](char c) { return is_digit(c); });
}

// --- cards ----------------------------------------------------------------------------------------------------------

/// Preset and bandwidth, which tell cards apart.
std::string card_of(const std::string& said) {
  json hardware = json::object();
  hardware["gpu"] = said;
  Mapping mapping(hardware);
  map_hardware(mapping);
  const std::string gpu = mapping.share.get("gpu"), bandwidth = mapping.share.get("gpu_bw");
  return gpu.empty() || (gpu == "custom" && bandwidth.empty()) ? "" : gpu + " " + bandwidth;
}

bool is_line_of_cards(const std::string& part) {
  return is_one_of(
      part, {"rtx", "gtx", "rx", "radeon", "geforce", "arc", "tesla", "titan", "quadro", "instinct", "dgx", "strix"});
}

/// Parts that name a card without what is said behind it.
size_t base_of_card(const Parts& parts, size_t at) {
  const std::string& part = parts[at];
  if (is_line_of_cards(part))
    for (size_t count = 2; count <= 3 && at + count <= parts.size(); ++count)
      if (!card_of(joined(parts, at, count, ' ')).empty()) return count;
  if (is_numeric(part) && (part.size() != 4 || part.find('.') != std::string::npos)) return 0;
  if (!has_digit(part) || is_size(part)) return 0;
  return card_of(part).empty() ? 0 : 1;
}

bool has_memory(const std::string& card, const std::string& gb) {
  const std::string chip = card.substr(0, card.find_first_of("- "));
  return std::any_of(hardware_presets().begin(), hardware_presets().end(), [&](const PresetRow& row) {
    return std::string(row.id).rfind(chip + "-", 0) == 0 &&
           std::string(row.id).find("-" + gb + "gb") != std::string::npos;
  });
}

/// "ti", "sxm", "80gb", and "32" where the chip is built with so much.
std::string said_behind(const std::string& card, const std::string& part) {
  const bool of_board =
      is_one_of(part, {"ti", "super", "pcie", "nvl", "laptop", "mobile", "xt", "xtx", "ada", "sxm"}) ||
      part.rfind("sxm", 0) == 0;
  const bool of_apple = card[0] == 'm' && is_one_of(part, {"max", "pro", "ultra"});
  const bool memory = part.size() > 2 && part.size() < 6 && part.substr(part.size() - 2) == "gb" && is_digit(part[0]);
  if (of_board || of_apple || memory) return part;
  return is_numeric(part) && has_memory(card_of(card), part) ? part + "gb" : "";
}

/// In the case's own words, which may hold the memory and rates.
std::string as_listed(const json& c, const std::string& card) {
  const std::string wanted = card_of(card);
  for (const std::string& listed : alternatives(text(c, "gpu")))
    if (card_of(listed) == wanted) return listed;
  return card;
}

/// A word of one card alone of those that the case lists.
std::string listed_word(const json& c, const std::string& part) {
  std::string found;
  const std::vector<std::string> all = alternatives(text(c, "gpu"));
  if (all.size() < 2 || part.size() < 4 || topic_of(part) != Topic::none || has_digit(part)) return "";
  for (const std::string& listed : all) {
    Words words;
    words.add(listed);
    if (!words.whole(part)) continue;
    if (!found.empty()) return "";
    found = listed;
  }
  return found;
}

// --- models ---------------------------------------------------------------------------------------------------------

/// Letters and digits without points: "llama-3.1-8b" as a name has it, "llama31_8b".
std::string bare(const std::string& name) {
  std::string out;
  for (const char c : lower(name))
    if (is_alphanumeric(c)) out += c;
  return out;
}

/// "llama31" may be 3.1.
std::string with_point(const std::string& name) {
  for (size_t i = 1; i + 1 < name.size(); ++i) {
    const bool two = is_letter(name[i - 1]) && is_digit(name[i]) && is_digit(name[i + 1]);
    const bool ends = i + 2 == name.size() || !is_alphanumeric(name[i + 2]);
    if (two && ends) return name.substr(0, i + 1) + "." + name.substr(i + 1);
  }
  return name;
}

bool is_known(const std::string& name) {
  Share kin;
  const std::string preset = preset_within(name);
  if (!set_kin(kin, name) && preset.empty() && published_config(name).empty()) return false;
  return preset.empty() || stated_billions(preset) == 0 || stated_billions(preset) == stated_billions(name);
}

std::string listed_model(const json& c, const std::string& said) {
  std::string found;
  for (const std::string& listed : alternatives(text(c, "model"))) {
    const bool sized = is_size(said) && stated_billions(with_point(listed)) * 1.0 == first_number(said).value_or(-1);
    if (!sized && (is_size(said) || bare(listed).find(bare(said)) == std::string::npos)) continue;
    if (!found.empty()) return "";
    found = listed;
  }
  return found;
}

}  // namespace

std::vector<std::string> alternatives(const std::string& field) {
  std::vector<std::string> out(1);
  for (const char c : field) {
    if (c == ';')
      out.emplace_back();
    else if (c != ' ' || !out.back().empty())
      out.back() += c;
  }
  return out;
}

size_t take_card(const std::vector<std::string>& given, size_t at, json& c) {
  Parts parts = given;
  const size_t x = parts[at].find('x');
  const bool counted = x != std::string::npos && x > 0 && x < 3 && is_numeric(parts[at].substr(0, x));
  const double count = counted ? first_number(parts[at]).value_or(1) : 0;
  if (counted) parts[at].erase(0, x + 1);
  if (parts[at].empty()) return 0;
  if (const std::string listed = listed_word(c, parts[at]); !listed.empty()) {
    c["gpu"] = listed;
    return 1;
  }
  const size_t base = base_of_card(parts, at);
  if (base == 0) return 0;
  std::string card = joined(parts, at, base, ' ');
  size_t taken = base;
  for (; at + taken < parts.size(); ++taken) {
    const std::string behind = said_behind(card, parts[at + taken]);
    if (behind.empty()) break;
    card += " " + behind;
  }
  c["gpu"] = as_listed(c, card);
  if (count > 0) c["n_gpus"] = count;
  if (count > 0 && lower(text(c, "engine")).find("llama") == std::string::npos) c["tp"] = count;
  return taken;
}

size_t take_model(const std::vector<std::string>& parts, size_t at, json& c) {
  if (topic_of(parts[at]) != Topic::none || is_numeric(parts[at])) return 0;
  for (size_t count = std::min(kLongest, parts.size() - at); count > 0; --count) {
    const std::string said = joined(parts, at, count, '-');
    const bool named = bare(said).size() >= 4 && is_letter(said[0]) && has_digit(said);
    if (!named && (count > 1 || !is_size(said))) continue;
    if (const std::string listed = listed_model(c, said); !listed.empty()) {
      c["model"] = listed;
      return count;
    }
    const bool sized = count > 1 && is_size(parts[at + count - 1]);
    for (const std::string& name : {said, with_point(said)}) {
      if (!sized || !is_known(name)) continue;
      c["model"] = name;
      return count;
    }
  }
  return 0;
}

}  // namespace vram::accuracy
