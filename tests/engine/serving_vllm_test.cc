// What vllm's versions keep beside weights and KV: figures of start-up logs.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

#include "engine/serving/serving.h"
#include "engine/units.h"

using namespace vram;

namespace {

double line_gib(const std::string& share, std::string_view id) {
  const ServingBill bill = serving_bill(read_plan(share).plan);
  for (const Line& line : bill.lines) {
    if (id == line.id) return static_cast<double>(line.bytes) / kGiB;
  }
  return -1;
}

double activations_gib(const std::string& share) { return line_gib(share, "activations"); }

bool within(double value, double logged, double share) {
  return value > logged * (1 - share) && value < logged * (1 + share);
}

}  // namespace

TEST_CASE("vllm 0.6 without chunked prefill profiles a request of max_len tokens", "[serving]") {
  const std::string plan = "model=llama-3.1-8b&gpu=rtx-3090-24gb&gpu_mem=23.58&engine_version=0.6.6&max_len=";
  CHECK(within(activations_gib(plan + "20000"), 2.07, 0.01));  // vllm#10517
  CHECK(within(activations_gib(plan + "29000"), 2.99, 0.01));
}

TEST_CASE("vllm 0.6 chunks prefill above 32768 tokens, so that a longer context leaves more for KV", "[serving]") {
  const std::string plan = "model=llama-3.1-8b&gpu=rtx-3090-24gb&engine_version=0.6.6&max_len=";
  CHECK(line_gib(plan + "35000", "kv_cache") > line_gib(plan + "29000", "kv_cache"));  // vllm#10517
}

TEST_CASE("vllm from 0.9 on samples 1024 sequences on large cards and 256 on others", "[serving]") {
  const std::string plan = "model=llama-3.1-8b&engine_version=0.9.1&gpu=";
  const double on_h100 = activations_gib(plan + "h100-sxm5-80gb");
  CHECK(within(on_h100, 1024.0 * 128256 * 39 / kGiB, 0.001));
  CHECK(within(activations_gib(plan + "a100-sxm4-80gb"), on_h100 / 4, 0.001));  // vllm#17885
}

TEST_CASE("vllm's sampler does not sort from 0.17 on", "[serving]") {
  const std::string plan = "model=gemma-3-4b&gpu=b200-180gb&engine_version=";
  CHECK(within(activations_gib(plan + "0.9.1"), 9.96, 0.03));  // start-up log, 1024 sequences
  CHECK(activations_gib(plan + "0.17.0") < activations_gib(plan + "0.16.0") / 2);
}
