#include "tests/accuracy/alias.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace vram::accuracy {

std::vector<Alias> aliases(const std::vector<Measurement>& measurements) {
  std::map<std::tuple<std::string, std::string, Figure>, std::vector<const Measurement*>> groups;
  for (const Measurement& m : measurements)
    if (m.skipped.empty() && m.figure != Figure::ran && m.figure != Figure::out_of_memory &&
        m.figure != Figure::published_flops)
      groups[{m.family, m.share, m.figure}].push_back(&m);
  std::vector<Alias> out;
  for (const auto& [key, rows] : groups) {
    if (rows.size() < 2) continue;
    const auto [least, most] = std::minmax_element(
        rows.begin(), rows.end(), [](const Measurement* a, const Measurement* b) { return a->measured < b->measured; });
    Alias alias{std::get<0>(key), std::get<1>(key), std::get<2>(key), {}, 0};
    for (const Measurement* row : rows) alias.ids.push_back(row->id);
    alias.half_spread = ((*most)->measured - (*least)->measured) / ((*most)->measured + (*least)->measured);
    out.push_back(std::move(alias));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Alias& a, const Alias& b) { return a.half_spread > b.half_spread; });
  return out;
}

}  // namespace vram::accuracy
