#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace vram {

/// What rows are compared by: smaller is better everywhere. What is unknown is 0 for all.
template <size_t n>
using Merits = std::array<double, n>;

/// Not worse anywhere.
template <size_t n>
bool covers(const Merits<n>& a, const Merits<n>& b) {
  for (size_t i = 0; i < n; ++i) {
    if (a[i] > b[i]) return false;
  }
  return true;
}

/// Rows of which none is covered by another; of two alike the earlier one stays.
template <class Row>
class ParetoSet {
 public:
  /// Would `add` keep a row of these merits?
  template <size_t n>
  bool wants(const Merits<n>& merits) const {
    for (const Row& row : rows_) {
      if (covers(row.merits, merits)) return false;
    }
    return true;
  }

  void add(Row row) {
    std::erase_if(rows_, [&](const Row& old) { return covers(row.merits, old.merits); });
    rows_.push_back(std::move(row));
  }

  bool empty() const { return rows_.empty(); }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<Row> rows_;
};

}  // namespace vram
