#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vram {

/// A whole number of any size, no more of it than a product needs.
class Whole {
 public:
  explicit Whole(std::string_view decimal) {
    for (size_t end = decimal.size(); end > 0;) {
      const size_t begin = end - std::min<size_t>(end, 9);
      digits_.push_back(static_cast<uint32_t>(std::atoi(std::string(decimal.substr(begin, end - begin)).c_str())));
      end = begin;
    }
    drop_leading_zeros();
  }

  Whole operator*(const Whole& other) const {
    Whole product("");
    product.digits_.resize(digits_.size() + other.digits_.size());
    for (size_t i = 0; i < digits_.size(); ++i) {
      uint64_t carry = 0;
      for (size_t j = 0; j < other.digits_.size(); ++j) {
        carry += product.digits_[i + j] + uint64_t{digits_[i]} * other.digits_[j];
        product.digits_[i + j] = static_cast<uint32_t>(carry % kBase);
        carry /= kBase;
      }
      product.digits_[i + other.digits_.size()] = static_cast<uint32_t>(carry);
    }
    product.drop_leading_zeros();
    return product;
  }
  bool operator<(const Whole& other) const {
    if (digits_.size() != other.digits_.size()) return digits_.size() < other.digits_.size();
    return std::lexicographical_compare(digits_.rbegin(), digits_.rend(), other.digits_.rbegin(), other.digits_.rend());
  }
  bool zero() const { return digits_.empty(); }

 private:
  static constexpr uint32_t kBase = 1000000000;

  void drop_leading_zeros() {
    while (!digits_.empty() && digits_.back() == 0) digits_.pop_back();
  }

  std::vector<uint32_t> digits_;  // of kBase, the least first
};

/// What a reader with a pencil makes of "32 layers × 0.5 B ÷ 8 tensor parallel": the number at the start of every term,
/// as it is printed. Nothing here knows how the line was made.
class PrintedFormula {
 public:
  /// Empty where a term begins with no number.
  static std::optional<PrintedFormula> read(std::string_view text) {
    PrintedFormula formula;
    for (bool divides = false;;) {
      const size_t next = std::min(text.find(" × "), text.find(" ÷ "));
      if (!formula.take(text.substr(0, next), divides)) return std::nullopt;
      if (next == text.npos) return formula;
      divides = text.substr(next).starts_with(" ÷ ");
      text.remove_prefix(next + std::string_view(" × ").size());
    }
  }

  /// Rounded up, it is `count`.
  bool comes_to(uint64_t count) const { return !exceeds(count) && (count == 0 || exceeds(count - 1)); }
  bool exceeds(uint64_t count) const { return Whole(std::to_string(count)) * divisor_ < product_; }
  bool divides_by_zero() const { return divisor_.zero(); }

 private:
  /// "12", "0.5", "1.5e-8".
  bool take(std::string_view term, bool divides) {
    std::string_view number = term.substr(0, term.find(' '));
    size_t decimals = 0;
    if (const size_t e = number.find("e-"); e != number.npos) {
      decimals = static_cast<size_t>(std::atoi(std::string(number.substr(e + 2)).c_str()));
      number = number.substr(0, e);
    }
    const size_t point = std::min(number.find('.'), number.size());
    std::string digits(number.substr(0, point));
    if (point < number.size()) digits += number.substr(point + 1);
    if (point == 0 || digits.find_first_not_of("0123456789") != digits.npos) return false;
    decimals += digits.size() - point;
    Whole& up = divides ? divisor_ : product_;
    Whole& down = divides ? product_ : divisor_;
    up = up * Whole(digits);
    down = down * Whole("1" + std::string(decimals, '0'));
    return true;
  }

  Whole product_{"1"}, divisor_{"1"};
};

}  // namespace vram
