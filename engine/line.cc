#include "engine/line.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "engine/units.h"

namespace vram {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr uint64_t kDecimals = 1000000000;  // 9 decimals of a factor count

/// An exact integer, or a decimal as an integer over 10^9.
struct Fraction {
  uint64_t numerator;
  uint64_t denominator;
};

uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
  while (b != 0) a = std::exchange(b, a % b);
  return a;
}

Fraction fraction_of(double value) {
  if (!(value > 0)) return {0, 1};
  const double limit = 9.2e18;
  if (value >= limit) return {static_cast<uint64_t>(limit), 1};
  if (value == std::floor(value)) return {static_cast<uint64_t>(value), 1};
  const double scaled = std::nearbyint(value * static_cast<double>(kDecimals));
  if (scaled >= limit) return {static_cast<uint64_t>(std::ceil(value)), 1};
  const auto numerator = static_cast<uint64_t>(scaled);
  const uint64_t divisor = greatest_common_divisor(numerator, kDecimals);
  return {numerator / divisor, kDecimals / divisor};
}

/// Numerator and denominator kept small by cancelling what a new term shares with the other side.
struct Product {
  Wide numerator = 1, denominator = 1;
  bool overflow = false;

  static void multiply(Wide& side, Wide& other, uint64_t term, bool& overflow) {
    const uint64_t shared = term == 0 ? 1 : greatest_common_divisor(term, static_cast<uint64_t>(other % term));
    if (shared > 1 && other % shared == 0) {
      other /= shared;
      term /= shared;
    }
    const Wide limit = ~Wide{0};
    if (term != 0 && side > limit / term) {
      overflow = true;
      return;
    }
    side *= term;
  }
  void multiply(uint64_t term) { multiply(numerator, denominator, term, overflow); }
  void divide(uint64_t term) {
    if (term != 0) multiply(denominator, numerator, term, overflow);
  }
};

std::string term_text(const Factor& factor) {
  std::string text = write_number(factor.value);
  if (*factor.meaning) text.append(" ").append(factor.meaning);
  return text;
}

constexpr const char* kPartIds[] = {"part_1", "part_2", "part_3", "part_4", "part_5",
                                    "part_6", "part_7", "part_8", "part_9"};

/// Ids of their own for lines that are alike; what is beyond nine stands under "rest", numbered anew.
std::vector<Line> numbered(std::vector<Line> lines) {
  std::vector<Line> rest;
  while (lines.size() > std::size(kPartIds)) {
    rest.insert(rest.begin(), std::move(lines.back()));
    lines.pop_back();
  }
  for (size_t i = 0; i < lines.size(); ++i) lines[i].id = kPartIds[i];
  if (!rest.empty()) lines.push_back(group("rest", "More of them", numbered(std::move(rest))));
  return lines;
}

constexpr double kSmallFactor = 9007199254740992.0;  // 2^53: a double's integers are exact up to here

/// The product of factors that are mostly small integers, in 64 bits. Empty where it takes more.
std::optional<uint64_t> small_product(const Factors& factors) {
  uint64_t numerator = 1, denominator = 1;
  bool overflow = false;
  for (const Factor& factor : factors) {
    const bool divides = factor.op == '/';
    if (!(factor.value >= (divides ? 1 : 0) && factor.value <= kSmallFactor)) return std::nullopt;
    const auto value = static_cast<uint64_t>(factor.value);
    if (static_cast<double>(value) != factor.value) return std::nullopt;
    uint64_t& side = divides ? denominator : numerator;
    overflow |= __builtin_mul_overflow(side, value, &side);
  }
  if (overflow) return std::nullopt;
  return numerator / denominator + (numerator % denominator != 0 ? 1 : 0);
}

/// The product of any factors, in 128 bits. Empty where it takes more.
std::optional<Wide> wide_product(const Factors& factors) {
  Product product;
  for (const Factor& factor : factors) {
    const Fraction fraction = fraction_of(factor.value);
    if (factor.op == '/') {
      product.divide(fraction.numerator);
      product.multiply(fraction.denominator);
    } else {
      product.multiply(fraction.numerator);
      product.divide(fraction.denominator);
    }
  }
  if (product.overflow) return std::nullopt;
  return product.numerator / product.denominator + (product.numerator % product.denominator != 0 ? 1 : 0);
}

}  // namespace

Lines::Lines(std::vector<Line> lines) {
  if (!lines.empty()) lines_ = std::make_shared<const std::vector<Line>>(std::move(lines));
}

Lines::operator const std::vector<Line>&() const {
  static const std::vector<Line> none;
  return lines_ ? *lines_ : none;
}

uint64_t product_bytes(const Factors& factors, bool* too_large) {
  std::optional<Wide> bytes = small_product(factors);
  if (!bytes) bytes = wide_product(factors);
  const bool large = !bytes || *bytes > kLargestBillBytes;
  if (large && too_large != nullptr) *too_large = true;
  return large ? kLargestBillBytes : static_cast<uint64_t>(*bytes);
}

void add_width(Factors& factors, double bits) {
  if (std::fmod(bits, 8) == 0) {
    factors.push_back(times("B", bits / 8, "B"));
  } else {
    factors.push_back(times("bits", bits, "bits"));
    factors.push_back(over("", 8, "bits a byte"));
  }
}

Line leaf(const char* id, const char* label, Factors factors, const char* note, double band_share) {
  Line line;
  line.id = id;
  line.label = label;
  line.factors = std::move(factors);
  line.note = note;
  line.bytes = product_bytes(line.factors, &line.too_large);
  line.band_bytes = static_cast<uint64_t>(std::ceil(static_cast<double>(line.bytes) * band_share));
  return line;
}

Line group(const char* id, const char* label, std::vector<Line> children, const char* note) {
  Line line;
  line.id = id;
  line.label = label;
  line.note = note;
  for (const Line& child : children) {
    line.bytes += child.bytes;
    line.band_bytes += child.band_bytes;
    line.too_large |= child.too_large;
  }
  line.too_large |= line.bytes > kLargestBillBytes;
  line.children = std::move(children);
  return line;
}

std::vector<Line> gather_twins(std::vector<Line> lines) {
  std::vector<Line> result;
  for (Line& line : lines) {
    const auto known = [&line](const Line& other) { return std::strcmp(other.id, line.id) == 0; };
    if (std::any_of(result.begin(), result.end(), known)) continue;
    std::vector<Line> twins;
    for (Line& other : lines) {
      if (known(other)) twins.push_back(other);
    }
    if (twins.size() == 1) {
      result.push_back(std::move(twins.front()));
    } else {
      const char* note = twins.front().note;
      result.push_back(group(line.id, line.label, numbered(std::move(twins)), note));
    }
  }
  return result;
}

uint64_t total_bytes(const std::vector<Line>& lines) {
  uint64_t sum = 0;
  for (const Line& line : lines) sum += line.bytes;
  return sum;
}

uint64_t total_band_bytes(const std::vector<Line>& lines) {
  double squares = 0;
  for (const Line& line : lines) {
    squares += static_cast<double>(line.band_bytes) * static_cast<double>(line.band_bytes);
  }
  return static_cast<uint64_t>(std::ceil(std::sqrt(squares)));
}

std::string formula(const Line& line) {
  if (!line.children.empty()) return "";
  std::string products, divisors;
  for (const Factor& factor : line.factors) {
    if (factor.op == '/') {
      divisors.append(" ÷ ").append(term_text(factor));
    } else {
      products.append(products.empty() ? "" : " × ").append(term_text(factor));
    }
  }
  if (products.empty()) products = "1";
  return products + divisors;
}

}  // namespace vram
