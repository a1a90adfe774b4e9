#include "tests/accuracy/figure_lists.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "engine/text.h"
#include "engine/units.h"
#include "tests/accuracy/load.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

using Numbers = std::vector<double>;

/// "2k" is 2048; empty where something is no number.
Numbers numbers_of(const json& list) {
  Numbers out;
  for (const json& one : list) {
    const std::string said = one.is_string() ? lower(one.get<std::string>()) : "";
    const double number = one.is_number() ? one.get<double>() : first_number(said).value_or(0);
    if (number <= 0) return {};
    out.push_back(!said.empty() && said.back() == 'k' ? of_thousands(number) : number);
  }
  return out;
}

struct Series {
  const char* word;  // as figures' names have it
  Numbers of_each;
};

/// What the load lists as many of.
Series series_of(const json& c, size_t count) {
  const json* load = find(c, "load");
  if (load == nullptr || !load->is_object()) return {"", {}};
  for (const auto& [name, value] : load->items()) {
    if (!value.is_array() || value.size() != count) continue;
    const Load read = load_of_fields(json{{name, 1}});
    const char* word = read.clients > 0 ? "c" : read.prompt > 0 ? "isl" : read.output > 0 ? "osl" : "";
    const Numbers of_each = numbers_of(value);
    if (*word != 0 && !of_each.empty()) return {word, of_each};
  }
  return {"", {}};
}

bool is_of_numbers(const json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const json& one) { return one.is_number(); });
}

}  // namespace

json without_lists(const json& c) {
  json out = c;
  const json* measured = find(c, "measured");
  if (measured == nullptr || !measured->is_object()) return out;
  for (const auto& [name, value] : measured->items()) {
    if (!is_of_numbers(value) || !read_figure_name(name).is_speed) continue;
    const Numbers all = value.get<Numbers>();
    const Series series = series_of(c, all.size());
    for (size_t i = 0; i < series.of_each.size(); ++i)
      out["measured"][name + "_" + series.word + write_number(series.of_each[i])] = all[i];
    if (!series.of_each.empty())
      out["measured"].erase(name);
    else
      out["measured"][name] = std::accumulate(all.begin(), all.end(), 0.0) / double(all.size());
  }
  return out;
}

}  // namespace vram::accuracy
