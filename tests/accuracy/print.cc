#include "tests/accuracy/print.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/units.h"
#include "tests/accuracy/amount.h"

namespace vram::accuracy {
namespace {

std::string padded(std::string text, size_t width, bool right = true) {
  if (text.size() >= width) return text;
  const std::string blanks(width - text.size(), ' ');
  return right ? blanks + text : text + blanks;
}

std::string reasons_of(const Score& score) {
  std::string out;
  for (const auto& [reason, count] : score.reasons)
    out += (out.empty() ? "  " : "; ") + std::to_string(count) + " " + reason;
  return out;
}

}  // namespace

std::string show_share(double share) { return show_fixed(100 * share, 1); }

std::string text_table(const std::vector<Score>& scores) {
  size_t family_width = 6;
  for (const Score& score : scores) family_width = std::max(family_width, score.family.size());
  std::string out = padded("family", family_width, false) + "  " + padded("figure", 22, false) +
                    "    n skip  median     p90    bias  in 0.5%  in 2%  inside   width\n";
  for (const Score& s : scores) {
    out += padded(s.family, family_width, false) + "  " + padded(figure_name(s.figure), 22, false) +
           padded(std::to_string(s.n), 5) + padded(std::to_string(s.skipped), 5);
    if (s.n > 0)
      for (double share : {s.median, s.p90, s.bias, s.very_near, s.near, s.coverage, s.half_width})
        out += padded(show_share(share), 8);
    out += reasons_of(s) + "\n";
  }
  return out;
}

std::string json_table(const std::vector<Score>& scores) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Score& s : scores) {
    nlohmann::ordered_json row;
    row["family"] = s.family;
    row["figure"] = figure_name(s.figure);
    row["n"] = s.n;
    row["skipped"] = s.skipped;
    row["median"] = s.median;
    row["p90"] = s.p90;
    row["bias"] = s.bias;
    row["within_half_percent"] = s.very_near;
    row["within_two_percent"] = s.near;
    row["coverage"] = s.coverage;
    row["half_width"] = s.half_width;
    out.push_back(std::move(row));
  }
  return out.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string case_list(const std::vector<Measurement>& measurements) {
  std::string out;
  for (const Measurement& m : measurements) {
    out += m.id + "  " + figure_name(m.figure) + "  " + amount(m.measured, m.unit) + "  ";
    out += m.skipped.empty() ? amount(m.estimate, m.unit) + "  " + show_fixed(m.ratio(), 4) : "skipped: " + m.skipped;
    out += "  " + m.share + "  " + m.family + "\n";
  }
  return out;
}

}  // namespace vram::accuracy
