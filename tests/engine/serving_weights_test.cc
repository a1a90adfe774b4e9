#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>
#include <string>

#include "engine/plan/plan.h"
#include "engine/serving/serving.h"
#include "engine/serving/weights.h"

using vram::ServingBill;

namespace {

uint64_t weights(const std::string& share) {
  return vram::serving_bill(vram::read_plan(share).plan).weights_bytes_per_gpu.value_or(0);
}
double gib(uint64_t bytes) { return static_cast<double>(bytes) / 1073741824.0; }
bool near(double value, double expected, double share) { return std::abs(value - expected) <= share * expected; }

}  // namespace

TEST_CASE("In 16 bit the weights are two bytes a parameter", "[serving]") {
  CHECK(weights("model=llama-3.1-8b&weights=bf16") == 2ull * 8030261248);
  CHECK(weights("model=custom&params=80e9&weights=bf16&gpu=h200-sxm-141gb&serve_gpus=2&serve_tp=2") == 80000000000);
}

TEST_CASE("Quantised checkpoints keep embedding and head in 16 bit", "[serving]") {
  struct Row {
    const char* share;
    double gib, tolerance;
  };
  const Row rows[] = {
      {"model=qwen2.5-7b&weights=gptq", 5.27, 0.02},                  // vllm 0.27, L4
      {"model=qwen2.5-7b&weights=fp8", 8.18, 0.02},                   // vllm 0.27, L4
      {"model=phi-4&weights=nf4", 8.5107, 0.02},                      // vllm 0.6.5
      {"model=llama-2-7b&weights=q4_0&engine=llamacpp", 3.49, 0.02},  // file 3.56 GiB, embedding in host memory
  };
  for (const Row& row : rows) {
    INFO(row.share << ": " << gib(weights(row.share)));
    CHECK(near(gib(weights(row.share)), row.gib, row.tolerance));
  }
}

TEST_CASE("Tensor parallelism leaves norms whole and divides the rest", "[serving]") {
  const uint64_t one = weights("model=llama-3-8b&weights=bf16"),
                 two = weights("model=llama-3-8b&weights=bf16&serve_gpus=2&serve_tp=2");
  CHECK(two > one / 2);
  CHECK(near(gib(two), 7.48, 0.002));  // vllm 0.6.5, two H100
}

TEST_CASE("Experts are spread over attention's data-parallel ranks too", "[serving]") {
  const std::string share = "model=deepseek-v3&weights=fp8&gpu=h200-sxm-141gb&serve_gpus=16&engine=generic";
  const double tensor = gib(weights(share + "&serve_tp=16")), data = gib(weights(share + "&serve_tp=1&serve_dp=16"));
  CHECK(data > tensor);      // attention is whole on every rank
  CHECK(data < 2 * tensor);  // experts are not
}

TEST_CASE("A batch touches 1 - (1 - k/E)^n of the experts", "[serving]") {
  CHECK(vram::touched_experts(256, 8, 1) == 8.0 / 256);
  CHECK(near(vram::touched_experts(8, 2, 3), 1 - 0.75 * 0.75 * 0.75, 1e-12));
  CHECK(vram::touched_experts(256, 8, 100000) > 0.999999);
  CHECK(vram::touched_experts(0, 0, 1) == 1);
}

TEST_CASE("Siblings of the bill have ids of their own", "[serving]") {
  for (const char* share :
       {"model=deepseek-v3&serve_gpus=8", "model=llama-3.1-8b&weights=q4_k_m", "model=qwen2.5-7b",
        "model=mixtral-8x7b&weights=q2_k&serve_gpus=16&engine=generic", "model=gpt-oss-120b&serve_gpus=2"}) {
    const ServingBill bill = vram::serving_bill(vram::read_plan(share).plan);
    REQUIRE(!bill.lines.empty());
    for (const vram::Line& section : bill.lines[0].children) {
      std::set<std::string> ids;
      for (const vram::Line& line : section.children) {
        INFO(share << " " << section.id << " " << line.id);
        CHECK(ids.insert(line.id).second);
      }
    }
  }
}
