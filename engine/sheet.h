#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <vector>

#include "engine/line.h"

namespace vram {

class LineList;

/// What a sheet keeps of its lines: all of them, or what they come to, for searches that ask for nothing else.
enum class Detail : uint8_t { lines, totals };

/// What the lines of a bill are written on: it holds their factors and children, side by side, and frees them at once.
class Sheet {
 public:
  explicit Sheet(Detail detail = Detail::lines) : detail_(detail) {}
  Sheet(const Sheet&) = delete;
  Sheet& operator=(const Sheet&) = delete;

  /// A line from its factors. `band_share`: half-width of the band as a share of the bytes.
  Line leaf(const char* id, const char* label, Factors&& factors, const char* note = "", double band_share = 0);

  /// A line from its children: bytes and band are their sums.
  Line group(const char* id, const char* label, const LineList& children, const char* note = "");

  Line group(const char* id, const char* label, std::initializer_list<Line> children, const char* note = "");

  /// A line of 0 bytes.
  Line nothing(const char* id, const char* label, const char* note = "") {
    return leaf(id, label, {times("0", 0, "bytes")}, note);
  }

  /// A group; where it has no children, nothing.
  Line sum(const char* id, const char* label, const LineList& children, const char* note = "");

  /// Room for so many, which is the sheet's.
  template <class T>
  T* room(size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= kAlignment);
    return static_cast<T*>(bytes(count * sizeof(T)));
  }

 private:
  static constexpr size_t kAlignment = 16;

  void* bytes(size_t count);

  const Detail detail_;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* next_ = nullptr;  // free, in the last block
  size_t left_ = 0;            // of it, bytes
};

/// Lines while they are put together on a sheet.
class LineList {
 public:
  explicit LineList(Sheet& sheet, size_t expected = 8) : sheet_(&sheet) { reserve(expected); }
  LineList(Sheet& sheet, std::initializer_list<Line> lines) : LineList(sheet, lines.size()) {
    append({lines.begin(), lines.size()});
  }
  LineList(LineList&&) = default;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Line* begin() const { return first_; }
  Line* end() const { return first_ + size_; }
  Line& back() const { return first_[size_ - 1]; }
  Line& operator[](size_t i) const { return first_[i]; }
  operator Lines() const { return {first_, size_}; }

  void reserve(size_t count);
  void push_back(const Line& line);
  void append(Lines lines);

 private:
  Sheet* sheet_;
  Line* first_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

/// Siblings differ by id: lines of one id become the children ("part_1" ... "part_9", "rest") of one line of that id.
LineList gather_twins(Sheet& sheet, const LineList& lines);

}  // namespace vram
