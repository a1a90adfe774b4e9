#include "tests/accuracy/score.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace vram::accuracy {
namespace {

constexpr const char* kAll = "all, tier A";
constexpr double kNear = 0.02, kVeryNear = 0.005;

Score score_of(std::string family, Figure figure, const std::vector<const Measurement*>& rows) {
  Score out;
  out.family = std::move(family);
  out.figure = figure;
  std::vector<double> errors, signed_errors, widths;
  int inside = 0, near = 0, very_near = 0;
  for (const Measurement* row : rows) {
    if (!row->skipped.empty()) {
      ++out.skipped;
      ++out.reasons[row->skipped];
      continue;
    }
    ++out.n;
    const double error = row->error();
    signed_errors.push_back(row->ratio() < 1 ? -error : error);
    errors.push_back(error);
    near += error <= kNear;
    very_near += error <= kVeryNear;
    inside += row->figure == Figure::trap
                  ? error == 0
                  : std::fabs(row->estimate - row->measured) <= row->band + 1e-9 * row->measured;
    widths.push_back(row->estimate > 0 ? row->band / row->estimate : 0);
  }
  out.median = quantile(errors, 0.5);
  out.p90 = quantile(errors, 0.9);
  out.bias = quantile(signed_errors, 0.5);
  out.near = out.n > 0 ? double(near) / out.n : 0;
  out.very_near = out.n > 0 ? double(very_near) / out.n : 0;
  out.coverage = out.n > 0 ? double(inside) / out.n : 0;
  out.half_width = quantile(widths, 0.5);
  return out;
}

std::vector<const Measurement*> held_by(const Pool& pool, const std::vector<Measurement>& measurements) {
  std::vector<const Measurement*> rows;
  for (const Measurement& one : measurements)
    if (pool.holds(one) && (pool.figure == Figure::any || pool.figure == one.figure)) rows.push_back(&one);
  return rows;
}

bool in_total(Figure figure) {
  return figure == Figure::steady || figure == Figure::allocated || figure == Figure::reserved ||
         figure == Figure::device || figure == Figure::speed || figure == Figure::out_of_memory ||
         figure == Figure::ran;
}

}  // namespace

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = share * (static_cast<double>(values.size()) - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

std::vector<Score> scores(const std::vector<Measurement>& measurements) {
  std::map<std::pair<std::string, Figure>, std::vector<const Measurement*>> families;
  std::map<Figure, std::vector<const Measurement*>> totals;
  for (const Measurement& one : measurements) {
    families[{one.family, one.figure}].push_back(&one);
    if (one.best && in_total(one.figure)) totals[one.figure].push_back(&one);
  }
  std::vector<Score> out;
  for (const auto& [key, rows] : families) out.push_back(score_of(key.first, key.second, rows));
  for (const auto& [figure, rows] : totals) out.push_back(score_of(kAll, figure, rows));
  for (const Pool& pool : serving_pools())
    if (const auto rows = held_by(pool, measurements); !rows.empty())
      out.push_back(score_of(pool.name, pool.figure, rows));
  return out;
}

}  // namespace vram::accuracy
