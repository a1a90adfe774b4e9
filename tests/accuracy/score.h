#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/accuracy/measurement.h"

namespace vram::accuracy {

/// How one figure of one family came out.
struct Score {
  std::string family;
  Figure figure = Figure::allocated;
  int n = 0, skipped = 0;
  std::map<std::string, int> reasons;  // of what was skipped
  double median = 0, p90 = 0;          // of |estimate ÷ measured − 1|
  double bias = 0;                     // median of estimate ÷ measured − 1
  double near = 0, very_near = 0;      // share of them within 2% and 0.5%
  double coverage = 0;                 // share of measurements inside the band
  double half_width = 0;               // median of band ÷ estimate
  bool has_bound = false;              // what the tests hold the family to
  double bound_median = 0, bound_p90 = 0;
};

/// A score for every family and figure, then for all families together: of training those of tier A by figure, of
/// serving what an engine's log is asked (score_pools.cc).
std::vector<Score> scores(const std::vector<Measurement>& measurements);

/// All of a question's measurements as one row: "all, serving, pool given".
struct Pool {
  const char* name;
  Figure figure;  // `any`: of several
  bool (*holds)(const Measurement&);
};
const std::vector<Pool>& serving_pools();

/// Quantile by linear interpolation; 0 of nothing.
double quantile(std::vector<double> values, double share);

}  // namespace vram::accuracy
