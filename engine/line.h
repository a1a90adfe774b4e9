#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace vram {

/// Everything of a bill is exact to the byte up to 2^53, the largest integer every JSON reader keeps.
inline constexpr uint64_t kLargestBillBytes = uint64_t{1} << 53;

/// One term of a product. Strings are static: a line costs no text.
struct Factor {
  const char* symbol;   // "L", "h", "tp"
  const char* meaning;  // "layers", "tensor parallel"
  double signed_value;  // 9 decimals count, of 15 digits in all; with a minus it divides (bills have many factors)

  double value() const { return std::fabs(signed_value); }
  bool divides() const { return std::signbit(signed_value); }
};

inline Factor times(const char* symbol, double value, const char* meaning) {
  return {symbol, meaning, value > 0 ? value : 0.0};
}
inline Factor over(const char* symbol, double value, const char* meaning) {
  return {symbol, meaning, value > 0 ? -value : -0.0};
}

/// The terms of one product while they are put together: they lie in place, and allocate nothing.
class Factors {
 public:
  Factors() = default;
  Factors(std::initializer_list<Factor> factors) { append({factors.begin(), factors.size()}); }
  Factors(const Factors& other) { append(other); }
  Factors& operator=(const Factors&) = delete;

  size_t size() const { return size_; }
  const Factor* begin() const { return all_; }
  const Factor* end() const { return all_ + size_; }
  Factor* begin() { return all_; }
  Factor* end() { return all_ + size_; }
  operator std::span<const Factor>() const { return {all_, size_}; }

  void push_back(const Factor& factor) {
    if (size_ == kMost) __builtin_trap();
    all_[size_++] = factor;
  }
  void append(std::span<const Factor> more);

 private:
  static constexpr size_t kMost = 16;  // the longest rules have eleven

  size_t size_ = 0;
  Factor all_[kMost];
};

/// The width of an element: whole bytes, or bits ÷ 8.
void add_width(Factors& factors, double bits);

struct Line;

/// Lines that lie side by side, seen and not owned.
class Lines {
 public:
  Lines() = default;
  Lines(const Line* first, size_t size) : first_(first), size_(size) {}
  Lines(const std::vector<Line>& lines);
  Lines(std::vector<Line>&&) = delete;  // it would outlive them

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Line* begin() const { return first_; }
  const Line* end() const;
  const Line& operator[](size_t i) const;
  const Line& front() const { return *first_; }

 private:
  const Line* first_ = nullptr;
  size_t size_ = 0;
};

/// Bytes, and the half-width of their error band.
struct Amount {
  uint64_t bytes = 0, band_bytes = 0;
  bool too_large = false;  // above kLargestBillBytes; of one product, bytes is then kLargestBillBytes

  Amount& operator+=(const Amount& other) {  // within one line bands add plainly
    bytes += other.bytes;
    band_bytes += other.band_bytes;
    too_large |= other.too_large || bytes > kLargestBillBytes;
    return *this;
  }
};

/// What a line shows of its factors is what counts of them: 0.1, not 0.09999999999999998.
void leave_what_counts(std::span<Factor> factors);

/// The product of the factors, with a band of `band_share` of it.
Amount product(std::span<const Factor> factors, double band_share);

/// A line of a bill: either children, whose bytes add up to its own, or factors, whose product
/// (all products first, then one division, rounded up once) is its bytes. Both lie on the sheet that it was written on
/// (engine/sheet.h), and no longer than that; copies share them.
struct Line : Amount {
  const char* id = "";     // "weights"; unique among its siblings
  const char* label = "";  // "Weights"
  const char* note = "";   // source of the rule: paper and equation, or framework file and version
  std::span<const Factor> factors;
  Lines children;
};

inline Lines::Lines(const std::vector<Line>& lines) : first_(lines.data()), size_(lines.size()) {}
inline const Line* Lines::end() const { return first_ + size_; }
inline const Line& Lines::operator[](size_t i) const { return first_[i]; }

/// The line without what it is made of.
Line bare(const Line& line);

/// Sum of the bytes of the lines of a bill.
uint64_t total_bytes(Lines lines);
uint64_t total_bytes(std::span<const Amount> lines);

/// Root of the sum of squares of the bands of the lines of a bill, rounded up.
uint64_t total_band_bytes(Lines lines);
uint64_t total_band_bytes(std::span<const Amount> lines);

/// Ceiling of the product of the '*' factors over the product of the '/' factors, in 128-bit integers
/// (decimals as integers over a power of ten). `too_large` is set where the result exceeds kLargestBillBytes.
uint64_t product_bytes(std::span<const Factor> factors, bool* too_large);

/// "32 layers × 4096 tokens × 2 B ÷ 8 tensor parallel": the factors as a whiteboard would show them.
/// A line with children answers "" (its children say how it comes about).
std::string formula(const Line& line);

}  // namespace vram
