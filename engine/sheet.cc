#include "engine/sheet.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace vram {
namespace {

constexpr size_t kFirstBlockBytes = 4096;  // the next are larger, up to eight times

constexpr const char* kPartIds[] = {"part_1", "part_2", "part_3", "part_4", "part_5",
                                    "part_6", "part_7", "part_8", "part_9"};

/// Ids of their own for lines that are alike; what is beyond nine stands under "rest", numbered anew.
LineList numbered(Sheet& sheet, Lines lines) {
  const size_t own = std::min(lines.size(), std::size(kPartIds));
  LineList result(sheet, own + 1);
  for (size_t i = 0; i < own; ++i) {
    result.push_back(lines[i]);
    result.back().id = kPartIds[i];
  }
  if (own < lines.size())
    result.push_back(sheet.group("rest", "More of them", numbered(sheet, {lines.begin() + own, lines.size() - own})));
  return result;
}

}  // namespace

void* Sheet::bytes(size_t count) {
  count = (count + kAlignment - 1) / kAlignment * kAlignment;
  if (count > left_) {
    const size_t size = std::max(kFirstBlockBytes << std::min<size_t>(blocks_.size(), 3), count);
    blocks_.emplace_back(new std::byte[size]);
    next_ = blocks_.back().get();
    left_ = size;
  }
  left_ -= count;
  return std::exchange(next_, next_ + count);
}

Line Sheet::leaf(const char* id, const char* label, Factors&& factors, const char* note, double band_share) {
  if (detail_ == Detail::totals) return {product(factors, band_share), id, label, note, {}, {}};
  leave_what_counts({factors.begin(), factors.size()});
  Factor* const kept = room<Factor>(factors.size());
  std::copy(factors.begin(), factors.end(), kept);
  return {product(factors, band_share), id, label, note, {kept, factors.size()}, {}};
}

Line Sheet::group(const char* id, const char* label, const LineList& children, const char* note) {
  Line line{{}, id, label, note, {}, {}};
  for (const Line& child : children) line += child;
  if (detail_ == Detail::lines) line.children = children;
  return line;
}

Line Sheet::group(const char* id, const char* label, std::initializer_list<Line> children, const char* note) {
  return group(id, label, LineList(*this, children), note);
}

Line Sheet::sum(const char* id, const char* label, const LineList& children, const char* note) {
  return children.empty() ? nothing(id, label, note) : group(id, label, children, note);
}

void LineList::reserve(size_t count) {
  if (count <= capacity_) return;
  Line* const more = sheet_->room<Line>(count);
  std::copy(begin(), end(), more);
  first_ = more;
  capacity_ = count;
}

void LineList::push_back(const Line& line) {
  if (size_ == capacity_) reserve(2 * capacity_ + 4);
  first_[size_++] = line;
}

void LineList::append(Lines lines) {
  reserve(size_ + lines.size());
  for (const Line& line : lines) push_back(line);
}

LineList gather_twins(Sheet& sheet, const LineList& lines) {
  LineList result(sheet, lines.size());
  for (const Line& line : lines) {
    const auto alike = [&line](const Line& other) { return std::strcmp(other.id, line.id) == 0; };
    if (std::any_of(result.begin(), result.end(), alike)) continue;
    LineList twins(sheet, 4);
    for (const Line& other : lines)
      if (alike(other)) twins.push_back(other);
    result.push_back(twins.size() == 1 ? line : sheet.group(line.id, line.label, numbered(sheet, twins), line.note));
  }
  return result;
}

}  // namespace vram
