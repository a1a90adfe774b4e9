// What holds of every server, on plans drawn at random (always the same ones).
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <string>

#include "engine/advice/remedies.h"
#include "engine/plan/plan.h"
#include "engine/serving/serving.h"

using namespace vram;

namespace {

constexpr const char* kModels[] = {"llama-3.1-8b", "qwen2.5-7b",  "mistral-7b-v0.1",
                                   "mixtral-8x7b", "gpt-oss-20b", "deepseek-v3"};
constexpr const char* kEngines[] = {"generic", "static", "vllm", "sglang", "trtllm"};

class Draw {
 public:
  size_t below(size_t n) { return static_cast<size_t>(random_() % n); }
  std::string plan() {
    return std::string("model=") + kModels[below(6)] + "&engine=" + kEngines[below(5)] +
           "&gpu=h200-sxm-141gb&serve_gpus=8&concurrency=" + std::to_string(1 + below(64)) +
           "&output=" + std::to_string(below(1024));
  }

 private:
  std::mt19937 random_{20240607};  // its sequence is the same everywhere
};

double held(const std::string& share) { return serving_bill(read_plan(share).plan).max_concurrency.value_or(0); }

constexpr int kDraws = 500;

}  // namespace

TEST_CASE("A longer prompt never raises concurrency", "[serving]") {
  Draw draw;
  for (int i = 0; i < kDraws; ++i) {
    const std::string plan = draw.plan();
    const size_t prompt = draw.below(16384);
    INFO(plan << " " << prompt);
    CHECK(held(plan + "&prompt=" + std::to_string(prompt + draw.below(16384))) <=
          held(plan + "&prompt=" + std::to_string(prompt)));
  }
}

TEST_CASE("A KV cache in fp8 never holds fewer requests", "[serving]") {
  Draw draw;
  for (int i = 0; i < kDraws; ++i) {
    const std::string plan = draw.plan();
    INFO(plan);
    CHECK(held(plan + "&kv=fp8") >= held(plan));
  }
}

TEST_CASE("The lines of every server add up to what it holds", "[serving]") {
  Draw draw;
  for (int i = 0; i < kDraws; ++i) {
    const std::string plan = draw.plan();
    INFO(plan);
    const ServingBill bill = serving_bill(read_plan(plan).plan);
    CHECK(total_bytes(bill.lines) == bill.device_bytes);
  }
}

TEST_CASE("More GPUs never hold fewer requests", "[native][serving]") {
  Draw draw;
  for (int i = 0; i < kDraws; ++i) {
    std::string plan = draw.plan();
    plan.replace(plan.find("serve_gpus=8"), 12, "kv=bf16");
    double before = 0;
    for (const char* gpus : {"1", "2", "4", "8"}) {
      if (!serving_faults(read_plan(plan + "&serve_tp=" + gpus).plan).empty())
        continue;  // heads that gpus do not divide
      const double now = held(plan + "&serve_tp=" + gpus);
      INFO(plan << " " << gpus);
      CHECK(now >= before);
      before = now;
    }
  }
}

TEST_CASE("A remedy that says how many requests a replica then holds keeps its word", "[serving]") {
  int said = 0;
  for (const char* share : {"model=llama-3-70b&serve_gpus=2&concurrency=64", "model=qwen2.5-7b&gpu=l4&concurrency=500",
                            "model=mixtral-8x7b&concurrency=100&serve_gpus=2", "model=gpt-oss-120b&concurrency=400",
                            "model=llama-3.1-8b&gpu=rtx-4090-24gb&concurrency=400"}) {
    const Plan plan = read_plan(share).plan;
    for (const Finding& finding : serving_remedies(plan, serving_bill(plan), 10)) {
      const size_t at = finding.text.find("holds ");
      if (at == std::string::npos) continue;
      INFO(share << " " << finding.change << ": " << finding.text);
      CHECK(*serving_bill(read_plan(std::string(share) + "&" + finding.change).plan).promised_concurrency ==
            std::stoi(finding.text.substr(at + 6)));
      ++said;
    }
  }
  CHECK(said > 5);
}
