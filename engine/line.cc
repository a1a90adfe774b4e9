#include "engine/line.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "engine/units.h"

namespace vram {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr double kLargestFactor = 9.2e18;  // below 2^63

/// The decimals of a factor that count, as a power of ten: 9 of them, and 15 digits in all, which a double keeps.
double decimals(double value) { return value < 1e6 ? 1e9 : value < 1e9 ? 1e6 : value < 1e12 ? 1e3 : 1; }

/// A number as far as it counts: 0.1, not 0.09999999999999998.
double counting(double value) {
  if (!(value > 0)) return 0;
  if (value == std::floor(value)) return std::min(value, kLargestFactor);
  return std::nearbyint(value * decimals(value)) / decimals(value);
}

/// An exact integer, or a decimal as an integer over a power of ten.
struct Fraction {
  uint64_t numerator;
  uint64_t denominator;
};

uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
  while (b != 0) a = std::exchange(b, a % b);
  return a;
}

Fraction fraction_of(double value) {
  const double counts = counting(value);
  if (counts == std::floor(counts)) return {static_cast<uint64_t>(counts), 1};
  const auto scale = static_cast<uint64_t>(decimals(counts));
  const auto numerator = static_cast<uint64_t>(std::nearbyint(counts * decimals(counts)));
  const uint64_t divisor = greatest_common_divisor(numerator, scale);
  return {numerator / divisor, scale / divisor};
}

/// Numerator and denominator kept small by cancelling what a new term shares with the other side.
struct CancelledProduct {
  Wide numerator = 1, denominator = 1;
  bool overflow = false;

  static void multiply(Wide& side, Wide& other, uint64_t term, bool& overflow) {
    const uint64_t shared = term == 0 ? 1 : greatest_common_divisor(term, static_cast<uint64_t>(other % term));
    other /= shared;
    term /= shared;
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

bool is_usual_integer(double value) {
  return std::fabs(value) < kLargestFactor && static_cast<double>(static_cast<int64_t>(value)) == value;
}

std::string term_text(const Factor& factor) {
  std::string text = write_number(factor.value());
  if (*factor.meaning) text.append(" ").append(factor.meaning);
  return text;
}

/// The product of whole numbers that a bill holds, as most are. Empty where it is none.
std::optional<uint64_t> whole_product(std::span<const Factor> factors) {
  uint64_t numerator = 1, denominator = 1;
  for (const Factor& factor : factors) {
    if (!is_usual_integer(factor.signed_value)) return std::nullopt;
    const auto whole = static_cast<int64_t>(factor.signed_value);
    if (whole == 0) return std::nullopt;
    if (whole > 0 && __builtin_mul_overflow(numerator, static_cast<uint64_t>(whole), &numerator)) return std::nullopt;
    if (whole < 0 && __builtin_mul_overflow(denominator, static_cast<uint64_t>(-whole), &denominator))
      return std::nullopt;
  }
  const bool divides = denominator != 1;
  const uint64_t bytes = divides ? numerator / denominator + (numerator % denominator != 0 ? 1 : 0) : numerator;
  return bytes <= kLargestBillBytes ? std::optional(bytes) : std::nullopt;
}

uint64_t band_of(uint64_t bytes, double share) {
  return static_cast<uint64_t>(std::ceil(static_cast<double>(static_cast<int64_t>(bytes)) * share));
}

/// The product of factors that 128 bits hold without cancelling, as nearly all of them. Empty where they do not.
struct PlainProduct {
  Wide numerator = 1, denominator = 1;

  static bool multiply(Wide& side, uint64_t term) {
    const auto high = static_cast<uint64_t>(side >> 64);
    if (high != 0 && std::countl_zero(high) + std::countl_zero(term) < 64) return false;
    side *= term;
    return true;
  }
  /// False for what is no positive number of at most 18 digits, decimals included.
  bool take(const Factor& factor) {
    const double value = factor.value();
    Wide& up = factor.divides() ? denominator : numerator;
    if (!(value > 0 && value < 1e18)) return value == 0 && !factor.divides() && multiply(up, 0);
    const auto whole = static_cast<int64_t>(value);
    if (static_cast<double>(whole) == value) return multiply(up, static_cast<uint64_t>(whole));
    const double scale = decimals(value), scaled = std::nearbyint(value * scale);
    Wide& down = factor.divides() ? numerator : denominator;
    return scaled >= 1 && multiply(up, static_cast<uint64_t>(scaled)) && multiply(down, static_cast<uint64_t>(scale));
  }
};

Wide rounded_up(Wide numerator, Wide denominator) {
  if (((numerator | denominator) >> 64) != 0) return numerator / denominator + (numerator % denominator != 0 ? 1 : 0);
  const auto n = static_cast<uint64_t>(numerator), d = static_cast<uint64_t>(denominator);
  return n / d + (n % d != 0 ? 1 : 0);
}

std::optional<Wide> plain_product(std::span<const Factor> factors) {
  PlainProduct product;
  for (const Factor& factor : factors)
    if (!product.take(factor)) return std::nullopt;
  return rounded_up(product.numerator, product.denominator);
}

/// The product of any factors. Empty where 128 bits do not hold it even so.
std::optional<Wide> cancelled_product(std::span<const Factor> factors) {
  CancelledProduct product;
  for (const Factor& factor : factors) {
    const Fraction fraction = fraction_of(factor.value());
    if (factor.divides()) {
      product.divide(fraction.numerator);
      product.multiply(fraction.denominator);
    } else {
      product.multiply(fraction.numerator);
      product.divide(fraction.denominator);
    }
  }
  if (product.overflow) return std::nullopt;
  return rounded_up(product.numerator, product.denominator);
}

}  // namespace

void Factors::append(std::span<const Factor> more) {
  for (const Factor& factor : more) push_back(factor);
}

void leave_what_counts(std::span<Factor> factors) {
  for (Factor& factor : factors)
    if (!is_usual_integer(factor.signed_value))
      factor.signed_value = std::copysign(counting(factor.value()), factor.signed_value);
}

uint64_t product_bytes(std::span<const Factor> factors, bool* too_large) {
  if (const auto bytes = whole_product(factors)) return *bytes;
  std::optional<Wide> bytes = plain_product(factors);
  if (!bytes) bytes = cancelled_product(factors);
  const bool large = !bytes || *bytes > kLargestBillBytes;
  if (large && too_large != nullptr) *too_large = true;
  return large ? kLargestBillBytes : static_cast<uint64_t>(*bytes);
}

Amount product(std::span<const Factor> factors, double band_share) {
  bool too_large = false;
  const uint64_t bytes = product_bytes(factors, &too_large);
  return {bytes, band_of(bytes, band_share), too_large};
}

void add_width(Factors& factors, double bits) {
  if (std::fmod(bits, 8) == 0) {
    factors.push_back(times("B", bits / 8, "B"));
  } else {
    factors.push_back(times("bits", bits, "bits"));
    factors.push_back(over("", 8, "bits a byte"));
  }
}

Line bare(const Line& line) { return {line, line.id, line.label, line.note, {}, {}}; }

namespace {

template <class Amounts>
uint64_t sum_of_bytes(const Amounts& amounts) {
  uint64_t sum = 0;
  for (const Amount& amount : amounts) sum += amount.bytes;
  return sum;
}

template <class Amounts>
uint64_t root_of_squared_bands(const Amounts& amounts) {
  double squares = 0;
  for (const Amount& amount : amounts) {
    squares += static_cast<double>(amount.band_bytes) * static_cast<double>(amount.band_bytes);
  }
  return static_cast<uint64_t>(std::ceil(std::sqrt(squares)));
}

}  // namespace

uint64_t total_bytes(Lines lines) { return sum_of_bytes(lines); }
uint64_t total_bytes(std::span<const Amount> lines) { return sum_of_bytes(lines); }

uint64_t total_band_bytes(Lines lines) { return root_of_squared_bands(lines); }
uint64_t total_band_bytes(std::span<const Amount> lines) { return root_of_squared_bands(lines); }

std::string formula(const Line& line) {
  if (!line.children.empty()) return "";
  std::string products, divisors;
  for (const Factor& factor : line.factors) {
    if (factor.divides()) {
      divisors.append(" ÷ ").append(term_text(factor));
    } else {
      products.append(products.empty() ? "" : " × ").append(term_text(factor));
    }
  }
  if (products.empty()) products = "1";
  return products + divisors;
}

}  // namespace vram
