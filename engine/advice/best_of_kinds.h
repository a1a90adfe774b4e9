#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/plan.h"

namespace vram {

/// Where a search goes over several kinds of GPU: the best row of each, also where one of another kind beats it.
template <class Row>
class BestOfKinds {
 public:
  /// Of one kind the answer's rows say all.
  void set_kinds(size_t count) { best_.resize(count > 1 ? count : 0); }

  template <class Leads>
  bool wants(size_t kind, Leads leads) const {
    return kind < best_.size() && (!best_[kind] || leads(*best_[kind]));
  }
  void set(size_t kind, const Row& row) { best_[kind] = row; }

  /// Best first.
  template <class Better>
  std::vector<Row> rows(Better better) const {
    std::vector<Row> rows;
    for (const std::optional<Row>& best : best_) {
      if (best) rows.push_back(*best);
    }
    std::stable_sort(rows.begin(), rows.end(), better);
    return rows;
  }
  /// Ids of the kinds that have none.
  std::vector<std::string> without(const std::vector<Plan>& kinds) const {
    std::vector<std::string> ids;
    for (size_t kind = 0; kind < best_.size(); ++kind) {
      if (!best_[kind]) ids.push_back(kinds[kind].gpu);
    }
    return ids;
  }

 private:
  std::vector<std::optional<Row>> best_;
};

}  // namespace vram
