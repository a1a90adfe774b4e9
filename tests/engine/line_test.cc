#include "engine/sheet.h"

#include <catch2/catch_test_macros.hpp>

using namespace vram;

namespace {

Sheet sheet;

}  // namespace

TEST_CASE("a leaf is the product of its factors") {
  const Line line = sheet.leaf("weights", "Weights", {times("N", 70e9, "parameters"), times("", 2, "B")});
  CHECK(line.bytes == 140000000000u);
  CHECK_FALSE(line.too_large);
}

TEST_CASE("a division comes last and is rounded up once") {
  // 10 / 3 * 3 would be 12 were each step rounded up.
  CHECK(sheet.leaf("a", "A", {times("", 10, ""), over("", 3, "")}).bytes == 4);
  CHECK(sheet.leaf("a", "A", {over("", 3, ""), times("", 10, ""), times("", 3, "")}).bytes == 10);
}

TEST_CASE("decimals are exact, not binary approximations") {
  CHECK(sheet.leaf("a", "A", {times("", 0.1, ""), times("", 30, "")}).bytes == 3);
  CHECK(sheet.leaf("a", "A", {times("", 1e9, ""), times("", 0.5159, "")}).bytes == 515900000);
  CHECK(sheet.leaf("a", "A", {times("", 100, ""), over("", 0.7, "")}).bytes == 143);
}

TEST_CASE("a product with a zero factor is zero") {
  CHECK(sheet.leaf("a", "A", {times("", 0, ""), times("", 1e18, ""), times("", 1e18, ""), times("", 1e18, "")}).bytes ==
        0);
}

TEST_CASE("intermediate products may exceed 64 bits") {
  const Line line =
      sheet.leaf("a", "A", {times("", 4e18, ""), times("", 8e18, ""), over("", 8e18, ""), over("", 2e9, "")});
  CHECK(line.bytes == 2000000000u);
  CHECK_FALSE(line.too_large);
}

TEST_CASE("a result above 2^53 is flagged and saturates") {
  const Line line = sheet.leaf("a", "A", {times("", 9007199254740992.0, ""), times("", 2, "")});
  CHECK(line.too_large);
  CHECK(line.bytes == kLargestBillBytes);
  CHECK(sheet.group("b", "B", {line}).too_large);
}

TEST_CASE("a group adds its children to the byte, and their bands plainly") {
  const Line line = sheet.group(
      "sum", "Sum",
      {sheet.leaf("a", "A", {times("", 100, "")}, "", 0.1), sheet.leaf("b", "B", {times("", 50, "")}, "", 0.5)});
  CHECK(line.bytes == 150);
  CHECK(line.band_bytes == 35);
}

TEST_CASE("the band of a bill is the root of the sum of squares of its lines") {
  CHECK(total_band_bytes(LineList(sheet, {sheet.leaf("a", "A", {times("", 30, "")}, "", 0.1),
                                          sheet.leaf("b", "B", {times("", 40, "")}, "", 0.1)})) == 5);
}

TEST_CASE("a formula prints the factors, divisions last") {
  const Line line = sheet.leaf(
      "a", "A",
      {times("L", 80, "layers"), over("tp", 8, "tensor parallel"), times("s", 4096, "tokens"), times("", 0.5, "B")});
  CHECK(formula(line) == "80 layers × 4096 tokens × 0.5 B ÷ 8 tensor parallel");
  CHECK(formula(sheet.group("g", "G", {line})).empty());
}

TEST_CASE("9 decimals of a factor count, of 15 digits in all, and a line shows what counts") {
  const auto text = [](double value) { return formula(sheet.leaf("a", "A", {times("", value, "")})); };
  CHECK(text(1.0 / 3) == "0.333333333");
  CHECK(text(1.0 / 1024) == "0.000976562");
  CHECK(text(123456.123456789012) == "123456.123456789");
  CHECK(text(1234567.8901234) == "1234567.890123");
  CHECK(text(1234567890.1234) == "1234567890.123");
  CHECK(text(1234567890123.5) == "1234567890124");
  CHECK(text(1e-10) == "0");
  CHECK(text(-2) == "0");
  CHECK(sheet.leaf("a", "A", {times("", 1.0 / 3, ""), times("", 3e9, "")}).bytes == 999999999);
  CHECK(sheet.leaf("a", "A", {times("", 1234567890.1234, ""), times("", 1000, "")}).bytes == 1234567890123);
}

TEST_CASE("lines of one id become the numbered parts of one line, however many they are") {
  LineList lines(sheet, {sheet.leaf("other", "Other", {times("", 5, "")})});
  for (int i = 1; i <= 20; ++i) lines.push_back(sheet.leaf("kv", "KV", {times("", i, "")}));
  const LineList gathered = gather_twins(sheet, lines);
  REQUIRE(gathered.size() == 2);
  CHECK(std::string(gathered[0].id) == "other");
  CHECK(gathered[1].bytes == 210);
  REQUIRE(gathered[1].children.size() == 10);
  CHECK(std::string(gathered[1].children[0].id) == "part_1");
  CHECK(std::string(gathered[1].children[9].id) == "rest");
  CHECK(gathered[1].children[9].children.size() == 10);
}

TEST_CASE("a product of many factors keeps them all, copied or moved") {
  Factors factors;
  for (int i = 1; i <= 11; ++i) factors.push_back(times("", i, ""));
  const Factors copy = factors;
  const Line line = sheet.leaf("a", "A", std::move(factors));
  CHECK(copy.size() == 11);
  CHECK(line.factors.size() == 11);
  CHECK(line.factors[10].value() == 11);
  CHECK(line.bytes == 39916800);
  CHECK(Line(line).factors[8].value() == 9);
}

TEST_CASE("a sheet for totals keeps what lines come to, and not what they are made of") {
  Sheet totals(Detail::totals);
  const Line line = totals.group(
      "sum", "Sum",
      {totals.leaf("a", "A", {times("", 100, "")}, "", 0.1), totals.leaf("b", "B", {times("", 1.0 / 3, "")}, "", 0.5)});
  CHECK(line.bytes == 101);
  CHECK(line.band_bytes == 11);
  CHECK(line.children.empty());
  CHECK(totals.leaf("a", "A", {times("", 100, "")}).factors.empty());
}

TEST_CASE("a sheet keeps thousands of lines where they are") {
  Sheet many;
  LineList lines(many);
  for (int i = 1; i <= 5000; ++i) lines.push_back(many.leaf("a", "A", {times("n", i, "")}));
  const Line sum = many.group("sum", "Sum", lines);
  CHECK(sum.bytes == 5000 * 5001 / 2);
  CHECK(sum.children[0].factors[0].value() == 1);
  CHECK(sum.children[4999].factors[0].value() == 5000);
}

TEST_CASE("a group of no lines is a line of nothing") {
  const Line none = sheet.sum("none", "None", LineList(sheet));
  CHECK(none.bytes == 0);
  CHECK(formula(none) == "0 bytes");
}
