// What stands on no floor: small things that every floor uses.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "engine/largest.h"
#include "engine/listed.h"
#include "engine/text.h"

using namespace vram;

TEST_CASE("the largest that fits is found between two ends, in as many questions as it has binary digits") {
  for (double largest = 3; largest <= 40; ++largest) {
    int asked = 0;
    const double found = largest_that(3, 40, [&](double value) {
      ++asked;
      CHECK(value > 3);  // the end below is taken to fit
      CHECK(value <= 40);
      return value <= largest;
    });
    CHECK(found == largest);
    CHECK(asked <= 7);
  }
  CHECK(largest_that(5, 5, [](double) { return true; }) == 5);
  CHECK(largest_that(7, 5, [](double) { return true; }) == 7);
}

TEST_CASE("parts are listed as in a sentence") {
  using Parts = std::vector<std::string>;
  CHECK(listed(Parts{}, " and ") == "");
  CHECK(listed(Parts{"a"}, " and ") == "a");
  CHECK(listed(Parts{"a", "b"}, " and ") == "a and b");
  CHECK(listed(Parts{"a", "b", "c"}, " or ") == "a, b or c");
}

TEST_CASE("letters and digits are ASCII's") {
  CHECK(trimmed(" \t a b\r\n") == "a b");
  CHECK(trimmed(" \n") == "");
  CHECK(lower_case("AZ[`az{@Ä09") == "az[`az{@Ä09");
  for (const char c : {'A', 'Z', 'a', 'z'}) CHECK((is_letter(c) && is_alphanumeric(c) && !is_digit(c)));
  for (const char c : {'0', '9'}) CHECK((is_digit(c) && is_alphanumeric(c) && !is_letter(c)));
  for (const char c : {'@', '[', '`', '{', '/', ':', '\xc4'}) CHECK_FALSE(is_alphanumeric(c));
}
