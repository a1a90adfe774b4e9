#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
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
  double value;         // 9 decimals count, of 15 digits in all
  char op;              // '*' or '/'
  const char* meaning;  // "layers", "tensor parallel"
};

constexpr Factor times(const char* symbol, double value, const char* meaning) { return {symbol, value, '*', meaning}; }
constexpr Factor over(const char* symbol, double value, const char* meaning) { return {symbol, value, '/', meaning}; }

/// The terms of one product. A usual number of them lies in place: most lines allocate nothing.
class Factors {
 public:
  Factors() = default;
  Factors(std::initializer_list<Factor> factors) { append(factors.begin(), factors.end()); }
  Factors(const Factors& other) : size_(other.size_), all_(other.all_) { copy_in_place(other); }
  Factors(Factors&& other) noexcept : size_(other.size_), all_(std::move(other.all_)) {
    copy_in_place(other);
    other.size_ = 0;
  }
  Factors& operator=(const Factors& other) { return *this = Factors(other); }
  Factors& operator=(Factors&& other) noexcept {
    size_ = other.size_;
    all_ = std::move(other.all_);
    copy_in_place(other);
    other.size_ = 0;
    return *this;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Factor* begin() const { return all_.empty() ? in_place_ : all_.data(); }
  const Factor* end() const { return begin() + size_; }
  Factor* begin() { return all_.empty() ? in_place_ : all_.data(); }
  Factor* end() { return begin() + size_; }
  const Factor& operator[](size_t i) const { return begin()[i]; }

  void push_back(const Factor& factor) {
    if (size_ == kInPlace) all_.assign(in_place_, in_place_ + kInPlace);
    if (size_ < kInPlace) in_place_[size_] = factor;
    if (size_ >= kInPlace) all_.push_back(factor);
    ++size_;
  }
  void append(const Factor* first, const Factor* last) {
    for (; first != last; ++first) push_back(*first);
  }

 private:
  static constexpr size_t kInPlace = 8;

  void copy_in_place(const Factors& other) {
    if (size_ <= kInPlace) std::copy_n(other.in_place_, size_, in_place_);
  }

  size_t size_ = 0;
  Factor in_place_[kInPlace];
  std::vector<Factor> all_;  // where there are more
};

/// The width of an element: whole bytes, or bits ÷ 8.
void add_width(Factors& factors, double bits);

struct Line;

/// The lines that make up a line: never changed, and shared by all copies of it.
class Lines {
 public:
  Lines() = default;
  Lines(std::vector<Line> lines);

  operator const std::vector<Line>&() const;
  size_t size() const;
  bool empty() const { return lines_ == nullptr; }
  const Line* begin() const;
  const Line* end() const;
  const Line& operator[](size_t i) const;

 private:
  std::shared_ptr<const std::vector<Line>> lines_;  // null where there are none
};

/// Bytes, and the half-width of their error band.
struct Amount {
  uint64_t bytes = 0, band_bytes = 0;
  bool too_large = false;  // above kLargestBillBytes; of one product, bytes is then kLargestBillBytes

  Amount& operator+=(const Amount& other);  // within one line bands add plainly
};

/// The product of the factors, with a band of `band_share` of it.
Amount product(const Factors& factors, double band_share);

/// A line of a bill: either children, whose bytes add up to its own, or factors, whose product
/// (all products first, then one division, rounded up once) is its bytes.
struct Line : Amount {
  const char* id = "";     // "weights"; unique among its siblings
  const char* label = "";  // "Weights"
  const char* note = "";   // source of the rule: paper and equation, or framework file and version
  Factors factors;
  Lines children;
};

inline size_t Lines::size() const { return lines_ ? lines_->size() : 0; }
inline const Line* Lines::begin() const { return lines_ ? lines_->data() : nullptr; }
inline const Line* Lines::end() const { return begin() + size(); }
inline const Line& Lines::operator[](size_t i) const { return (*lines_)[i]; }

/// A line from its factors. `band_share`: half-width of the band as a share of the bytes.
Line leaf(const char* id, const char* label, Factors&& factors, const char* note = "", double band_share = 0);

/// A line from its children: bytes and band are their sums.
Line group(const char* id, const char* label, std::vector<Line> children, const char* note = "");

/// Siblings differ by id: lines of one id become the children ("part_1" ... "part_9", "rest") of one line of that id.
std::vector<Line> gather_twins(std::vector<Line> lines);

/// Sum of the bytes of the lines of a bill.
uint64_t total_bytes(const std::vector<Line>& lines);
uint64_t total_bytes(std::span<const Amount> lines);

/// Root of the sum of squares of the bands of the lines of a bill, rounded up.
uint64_t total_band_bytes(const std::vector<Line>& lines);
uint64_t total_band_bytes(std::span<const Amount> lines);

/// Ceiling of the product of the '*' factors over the product of the '/' factors, in 128-bit integers
/// (decimals as integers over a power of ten). `too_large` is set where the result exceeds kLargestBillBytes.
uint64_t product_bytes(const Factors& factors, bool* too_large);

/// "32 layers × 4096 tokens × 2 B ÷ 8 tensor parallel": the factors as a whiteboard would show them.
/// A line with children answers "" (its children say how it comes about).
std::string formula(const Line& line);

}  // namespace vram
