#include "tests/accuracy/figure_label.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/text.h"
#include "tests/accuracy/load.h"
#include "tests/accuracy/load_beside.h"
#include "tests/accuracy/load_words.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

constexpr double kSame = 0.1;  // further apart than runs of one plan are

bool is_word(const std::string& part) { return std::all_of(part.begin(), part.end(), is_letter); }

/// Of a name what says more than a label does.
std::vector<std::string> figure_of(const std::string& name) {
  std::vector<std::string> out;
  for (const std::string& part : split_words(name, ".")) {
    const Topic topic = topic_of(part);
    const bool setting = part == "eager";
    if (setting || !is_word(part) || (topic != Topic::none && topic != Topic::filler)) out.push_back(part);
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool denies(const std::string& word) { return is_one_of(word, {"no", "non", "without", "off"}); }

bool is_of_fields(const json& c, const std::string& word) {
  Words said;
  for (const char* field : {"engine", "engine_version", "model", "gpu", "flags", "dataset", "weight_dtype", "kv_dtype",
                            "prompt", "source"}) {
    std::string apart = text(c, field);
    std::replace_if(
        apart.begin(), apart.end(), [](char one) { return !is_alphanumeric(one); }, ' ');
    said.add(apart);
  }
  return said.whole(word);
}

}  // namespace

json siblings_of(const json& c) {
  json out = json::array();
  const json* measured = find(c, "measured");
  if (measured == nullptr || !measured->is_object()) return out;
  for (const auto& [name, value] : measured->items())
    if (value.is_number() && read_figure_name(name).is_speed) out.push_back(json::array({name, value}));
  return out;
}

bool is_label(const json& c, const std::string& figure, const std::string& word) {
  const std::vector<std::string> own = split_words(figure, "."), of_figure = figure_of(figure);
  const bool denied = std::any_of(own.begin(), own.end(), denies);
  if (!denied && (is_of_fields(c, word) || is_of_settings(c, word))) return true;
  const json* siblings = find(c, "siblings");
  if (siblings == nullptr) return true;
  double amount = 0;
  for (const json& one : *siblings)
    if (one[0] == figure) amount = one[1].get<double>();
  return std::none_of(siblings->begin(), siblings->end(), [&](const json& one) {
    const std::string name = one[0].get<std::string>();
    const double other = one[1].get<double>();
    return name != figure && figure_of(name) == of_figure && std::fabs(other - amount) > kSame * amount;
  });
}

}  // namespace vram::accuracy
