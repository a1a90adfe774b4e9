#include <catch2/catch_test_macros.hpp>

#include "engine/plan/near.h"

using namespace vram;

TEST_CASE("what a mistyped name may have meant") {
  const std::vector<std::string_view> names = {
      "a10-24gb",       "a100-pcie-40gb", "a100-sxm4-80gb", "b200-180gb",     "h100-sxm5-80gb",
      "h100-pcie-80gb", "h100-nvl-94gb",  "rtx-4090-24gb",  "rtx-4090d-24gb", "l4"};
  struct Row {
    const char* given;
    const char* said;
  };
  const Row rows[] = {
      {"a100", "; did you mean a100-pcie-40gb or a100-sxm4-80gb?"},  // not a10, which is one letter away
      {"h100-80gb", "; did you mean h100-sxm5-80gb or h100-pcie-80gb?"},
      {"H100 SXM5", "; did you mean h100-sxm5-80gb?"},
      {"4090", "; did you mean rtx-4090-24gb?"},
      {"rtx4090", "; did you mean rtx-4090-24gb or rtx-4090d-24gb?"},
      {"b200", "; did you mean b200-180gb?"},
      {"h100-sxm5-80bg", "; did you mean h100-sxm5-80gb?"},  // mistyped
      {"l5", "; did you mean l4?"},
      {"a100-40", "; did you mean a100-pcie-40gb?"},
      {"b200-sxm-180gb", "; did you mean b200-180gb?"},
      {"nvidia-b200", "; did you mean b200-180gb?"},
      {"tpu", ""},
      {"", ""},
      {"--", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.given);
    CHECK(did_you_mean(row.given, names) == row.said);
  }
}
