#include "engine/units.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <cstring>
#include <string>

using namespace vram;

namespace {

/// A fixed sequence of doubles of all sizes (xorshift64*, Vigna 2016).
struct Random {
  uint64_t state = 88172645463325252u;
  uint64_t next() {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 2685821657736338717u;
  }
  double positive() {
    const uint64_t bits = next() >> 1;
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return std::isfinite(value) && value > 1e-300 ? value : 1;
  }
};

struct Reading {
  const char* text;
  double value;
};

}  // namespace

TEST_CASE("numbers read as the share string's contract lists them") {
  const Reading row = GENERATE(values<Reading>({
      {"70000000000", 70e9},
      {"70e9", 70e9},
      {"70B", 70e9},
      {"70b", 70e9},
      {"1.5T", 1.5e12},
      {"128k", 128000},
      {"128K", 128000},
      {"128Ki", 131072},
      {"128ki", 131072},
      {"2g", 2e9},
      {"2m", 2e6},
      {"1Mi", 1048576},
      {"1Gi", 1073741824.0},
      {"1Ti", 1099511627776.0},
      {"1,000,000", 1e6},
      {"1_000", 1000},
      {"25%", 0.25},
      {"0.1%", 0.001},
      {".5", 0.5},
      {"5.", 5},
      {"-3", -3},
      {"+3", 3},
      {"1E3", 1000},
      {"5e-1", 0.5},
      {"-0", 0},
      {"7e9", 7e9},
      {"0.1", 0.1},
      {"80 k", 80000},
  }));
  CAPTURE(row.text);
  REQUIRE(read_number(row.text).has_value());
  CHECK(*read_number(row.text) == row.value);
}

TEST_CASE("anything else is no number") {
  const char* text = GENERATE("", " ", "x", "nan", "inf", "-inf", "0x10", "1e999", "1,", ",1", "1__0", "1_", "1.2.3",
                              "--1", "1e", "12q", "1 2", "%", "k", "1kk", "GB", "1GB", "٣", "1\n");
  CAPTURE(text);
  CHECK_FALSE(read_number(text).has_value());
}

TEST_CASE("sizes read in the unit of their key, or in their own") {
  const Reading row = GENERATE(values<Reading>({
      {"80", 80 * kGiB},
      {"80G", 80e9},
      {"80GB", 80e9},
      {"80gb", 80e9},
      {"80B", 80},
      {"1kB", 1000},
      {"1MB", 1e6},
      {"1TB", 1e12},
      {"1KiB", 1024},
      {"1MiB", 1048576},
      {"1GiB", kGiB},
      {"1TiB", kTiB},
      {"1Gi", kGiB},
      {"0.5", kGiB / 2},
      {"80e9B", 80e9},
      {"1,024MiB", kGiB},
      {"0", 0},
      {"80 GB", 80e9},
  }));
  CAPTURE(row.text);
  REQUIRE(read_size(row.text, kGiB).has_value());
  CHECK(*read_size(row.text, kGiB) == row.value);
}

TEST_CASE("a size is a whole number of bytes") {
  CHECK(*read_size("79.65", kGiB) == 85523536282.0);  // 85,523,536,281.6
}

TEST_CASE("rates tell bytes from bits by the case of the b") {
  const Reading row = GENERATE(values<Reading>({{"50", 50},
                                                {"50GB/s", 50},
                                                {"3.35TB/s", 3350},
                                                {"500MB/s", 0.5},
                                                {"400Gb/s", 50},
                                                {"1.6Tb/s", 200},
                                                {"400gb/s", 50},
                                                {"3.35tB/s", 3350},
                                                {"500mB/s", 0.5}}));
  CAPTURE(row.text);
  REQUIRE(read_rate(row.text).has_value());
  CHECK(*read_rate(row.text) == row.value);
  CHECK_FALSE(read_rate("50GB").has_value());
  CHECK_FALSE(read_rate("fast").has_value());
}

TEST_CASE("numbers are written as plain digits, fractions as their shortest decimal") {
  CHECK(write_number(0) == "0");
  CHECK(write_number(70e9) == "70000000000");
  CHECK(write_number(9007199254740993.0) == "9007199254740992");
  CHECK(write_number(0.1) == "0.1");
  CHECK(write_number(1.0 / 3) == "0.3333333333333333");
  CHECK(write_number(123456.5) == "123456.5");
  CHECK(write_number(0.00001) == "0.00001");
  CHECK(write_number(1e-9) == "1e-9");
  CHECK(write_number(8.4e23) == "8.4e23");
  CHECK(write_number(-2.5) == "-2.5");
}

TEST_CASE("every written number reads back the same") {
  Random random;
  for (int i = 0; i < 2000; ++i) {
    const double value = random.positive();
    CHECK(read_number(write_number(value)) == value);
  }
}

TEST_CASE("percentages are written from the decimal, not from a product") {
  CHECK(write_share(0.25) == "25%");
  CHECK(write_share(0.07) == "7%");  // 0.07 × 100 is 7.000000000000001
  CHECK(write_share(0.125) == "12.5%");
  CHECK(read_number(write_share(0.07)) == 0.07);
}

TEST_CASE("sizes are written in the key's unit, else in GB, else in bytes") {
  CHECK(write_size(80 * kGiB, kGiB) == "80");
  CHECK(write_size(85523536282.0, kGiB) == "79.65");
  CHECK(write_size(80e9, kGiB) == "80GB");
  CHECK(write_size(85520809984.0, kGiB) == "85520809984B");  // 81,559 MiB = 79.6474609375 GiB
  CHECK(write_size(123456789, kGiB) == "123456789B");
  CHECK(write_size(0, kGiB) == "0");
}

TEST_CASE("every written size reads back the same") {
  Random random;
  for (int i = 0; i < 2000; ++i) {
    const double bytes = static_cast<double>(random.next() >> (11 + i % 40));
    CHECK(read_size(write_size(bytes, kGiB), kGiB) == bytes);
  }
}

TEST_CASE("figures are shown to people with three significant digits") {
  CHECK(show_bytes(0) == "0 B");
  CHECK(show_bytes(1024) == "1 KiB");
  CHECK(show_bytes(85520809984.0) == "79.6 GiB");
  CHECK(show_bytes(85520809984.0, Units::gb) == "85.5 GB");
  CHECK(show_bytes(1.5e12, Units::gb) == "1,500 GB");
  CHECK(show_bytes(-kGiB) == "-1 GiB");
  CHECK(show_bytes(20 * kTiB) == "20 TiB");
  CHECK(show_bytes(2e13, Units::gb) == "20 TB");
  CHECK(show_bytes(2e18, Units::gb) == "2,000 PB");
  CHECK(show_count(512) == "512");
  CHECK(show_count(128256) == "128,256");
  CHECK(show_count(7.25e6) == "7.25 M");
  CHECK(show_count(70553706496.0) == "70.6 B");
  CHECK(show_count(1.5e12) == "1.50 T");
  CHECK(show_count(8.4e23) == "8.40e23");
  CHECK(show_grouped(1234567) == "1,234,567");
  CHECK(show_grouped(-123) == "-123");
  CHECK(show_fixed(-0.001, 2) == "0.00");
  CHECK(show_duration(69.2466 * 86400) == "69.2 days");
  CHECK(show_duration(0.35) == "350 ms");
  CHECK(show_duration(12345) == "3.43 h");
}
