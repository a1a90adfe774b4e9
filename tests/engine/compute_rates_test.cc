#include "engine/compute/rates.h"

#include <catch2/catch_approx.hpp>

#include "engine/compute/achieved.h"
#include "tests/engine/plan_of.h"

using namespace vram;
using namespace vram::samples;
using Catch::Approx;

namespace {

const ChipRates& rates_of_chip(Chip chip) {
  for (const ChipRates& rates : kChipRates)
    if (rates.chip == chip) return rates;
  FAIL("no such chip");
  return kChipRates[0];
}

}  // namespace

TEST_CASE("An accelerator reaches what its family does") {
  struct Row {
    const char* gpu;
    Chip chip;
  };
  const Row rows[] = {{"v100-sxm2-32gb", Chip::volta},       {"t4", Chip::volta},
                      {"a100-sxm4-80gb", Chip::ampere},      {"h100-sxm5-80gb", Chip::hopper},
                      {"b200-180gb", Chip::blackwell},       {"rubin-288gb", Chip::blackwell},
                      {"b300-288gb", Chip::blackwell_ultra}, {"tpu-v5p", Chip::tpu},
                      {"mi300x-192gb", Chip::instinct},      {"rtx-4090-24gb", Chip::other},
                      {"gaudi3-128gb", Chip::other}};
  for (const Row& row : rows) {
    CAPTURE(row.gpu);
    const ChipRates& share = rates_of_chip(row.chip);
    const std::string gpu = std::string("&gpu=") + row.gpu;
    const Plan plan = plan_of("model=llama-3.1-8b&precision=fp16" + gpu);
    CHECK(rates_of(plan).matrix == Approx(peak_flops(plan) * share.matrix16));
    CHECK(rates_of(plan).memory == Approx(plan.gpu_bw * 1e9 * kMemoryShare));
  }
  const Plan eight = plan_of("model=llama-3.1-8b&precision=fp8&gpu=b300-288gb");
  CHECK(rates_of(eight).matrix == Approx(peak_flops(eight) * rates_of_chip(Chip::blackwell_ultra).matrix8));
  const Plan four = plan_of("model=llama-3.1-8b&precision=nvfp4&gpu=b200-180gb");
  CHECK(rates_of(four).matrix == Approx(peak_flops(four) * rates_of_chip(Chip::blackwell).matrix4));
}

TEST_CASE("A card below its power limit runs at a lower clock, by the cube root") {
  const double full = rates_of(plan_of("model=llama-3.1-8b&gpu=h100-sxm5-80gb")).matrix;
  CHECK(rates_of(plan_of("model=llama-3.1-8b&gpu=h100-sxm5-80gb&watts=87.5")).matrix == Approx(full / 2));
  CHECK(rates_of(plan_of("model=llama-3.1-8b&gpu=h100-sxm5-80gb&watts=1400")).matrix == full);
}
