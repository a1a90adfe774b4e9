#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace vram {

/// Everything of a bill is exact to the byte up to 2^53, the largest integer every JSON reader keeps.
inline constexpr uint64_t kLargestBillBytes = uint64_t{1} << 53;

/// One term of a product. Strings are static: a line costs no text.
struct Factor {
  const char* symbol = "";   // "L", "h", "tp"
  double value = 1;          // at most 9 decimals count
  char op = '*';             // '*' or '/'
  const char* meaning = "";  // "layers", "tensor parallel"
};

constexpr Factor times(const char* symbol, double value, const char* meaning) {
  return {symbol, value, '*', meaning};
}
constexpr Factor over(const char* symbol, double value, const char* meaning) {
  return {symbol, value, '/', meaning};
}

/// The width of an element: whole bytes, or bits ÷ 8.
void add_width(std::vector<Factor>& factors, double bits);

/// A line of a bill: either children, whose bytes add up to its own, or factors, whose product
/// (all products first, then one division, rounded up once) is its bytes.
struct Line {
  const char* id = "";     // "weights"; unique among its siblings
  const char* label = "";  // "Weights"
  uint64_t bytes = 0;
  uint64_t band_bytes = 0;  // half-width of the error band
  std::vector<Factor> factors;
  const char* note = "";  // source of the rule: paper and equation, or framework file and version
  std::vector<Line> children;
  bool too_large = false;  // above kLargestBillBytes; bytes is then kLargestBillBytes
};

/// A line from its factors. `band_share`: half-width of the band as a share of the bytes.
Line leaf(const char* id, const char* label, std::vector<Factor> factors, const char* note = "",
          double band_share = 0);

/// A line from its children: bytes, band and too_large are their sums (within one line bands add plainly).
Line group(const char* id, const char* label, std::vector<Line> children, const char* note = "");

/// Siblings differ by id: lines of one id become the children ("part_1" ... "part_9", "rest") of one line of that id.
std::vector<Line> gather_twins(std::vector<Line> lines);

/// Sum of the bytes of the lines of a bill.
uint64_t total_bytes(const std::vector<Line>& lines);

/// Root of the sum of squares of the bands of the lines of a bill, rounded up.
uint64_t total_band_bytes(const std::vector<Line>& lines);

/// Ceiling of the product of the '*' factors over the product of the '/' factors, in 128-bit integers
/// (decimals as integers over 10^9). `too_large` is set where the result exceeds kLargestBillBytes.
uint64_t product_bytes(const std::vector<Factor>& factors, bool* too_large);

/// "32 layers × 4096 tokens × 2 B ÷ 8 tensor parallel": the factors as a whiteboard would show them.
/// A line with children answers "" (its children say how it comes about).
std::string formula(const Line& line);

}  // namespace vram
