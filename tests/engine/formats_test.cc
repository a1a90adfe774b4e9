#include "engine/formats.h"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>

using vram::find_format;
using vram::formats;

TEST_CASE("A format's bits include its scales", "[formats]") {
  struct Row {
    const char* id;
    double bits;
  };
  const Row rows[] = {
      {"fp32", 32},      {"bf16", 16},         {"fp16", 16},     {"fp8", 8},
      {"int8", 8},       {"int4", 4.5},        {"awq", 4.15625},  // 4 + 16/128 + 4/128
      {"gptq", 4.15625}, {"nf4", 4.126953125},                    // 4 + 8/64 + 32/(64 * 256): QLoRA, section 3
      {"nvfp4", 4.5},    {"mxfp4", 4.25},      {"q8_0", 8.5},     // 34 bytes per 32
      {"q6_k", 6.5625},  {"q5_1", 6},          {"q5_0", 5.5},    {"q4_1", 5},
      {"q4_0", 4.5},     {"q3_k_m", 3.4375},   {"q2_k", 2.625},  {"iq4_xs", 4.25},
  };
  for (const Row& row : rows) {
    INFO(row.id);
    REQUIRE(find_format(row.id) != nullptr);
    CHECK(find_format(row.id)->bits == row.bits);
  }
}

TEST_CASE("Every format has its own id, a name and a source", "[formats]") {
  std::set<std::string_view> ids;
  for (const auto& format : formats()) {
    INFO(format.id);
    CHECK(ids.insert(format.id).second);
    CHECK(!format.name.empty());
    CHECK(!format.note.empty());
    CHECK(!format.compute.empty());
    CHECK(format.nominal_bytes * 8 <= format.bits + 0.5);
  }
}

TEST_CASE("Formats whose name covers only the linears leave the rest in 16 bit", "[formats]") {
  for (const char* id : {"fp8", "int8", "int4", "awq", "gptq", "nf4", "nvfp4", "mxfp4"}) {
    INFO(id);
    CHECK(find_format(id)->blocks_only);
  }
  for (const char* id : {"bf16", "q8_0", "q4_k_m", "q4_0"}) {
    INFO(id);
    CHECK_FALSE(find_format(id)->blocks_only);
  }
}

TEST_CASE("An unknown format is not found", "[formats]") {
  CHECK(find_format("bf17") == nullptr);
  CHECK(find_format("") == nullptr);
}
