// How long the layout search takes. 100,308 layouts: under 2 s on one core, 1 s the goal.
#include <catch2/benchmark/catch_benchmark.hpp>
#include <catch2/catch_test_macros.hpp>

#include "engine/advice/plan_search.h"

using namespace vram;

namespace {

constexpr const char* kHundredThousand =
    "model=deepseek-v3&gpus=2048&global_batch=15360&gpus_among=h100-sxm5-80gb,h200-sxm-141gb,b200-180gb,h800-sxm5-80gb";

}  // namespace

TEST_CASE("A hundred thousand layouts", "[search]") {
  const Plan plan = read_plan(kHundredThousand).plan;
  REQUIRE(answer_question(plan).tried > 100000);
  BENCHMARK("DeepSeek-V3 on 2,048 GPUs of four kinds") { return answer_question(plan); };
}

TEST_CASE("Layouts of one plan", "[search]") {
  for (const char* share :
       {"model=llama-3.1-8b&gpus=8&framework=fsdp", "model=llama-3.1-70b&gpus=64&global_batch=512",
        "model=llama-3.1-70b&question=fewest-gpus", "model=llama-3.1-8b&gpus=8&question=longest-seq",
        "model=llama-3.1-70b&question=replicas&qps=20&tpot=0.05"}) {
    const Plan plan = read_plan(share).plan;
    BENCHMARK(share) { return answer_question(plan); };
  }
}

TEST_CASE("A slice of the search, as a page takes it", "[search]") {
  const Plan plan = read_plan(kHundredThousand).plan;
  PlanSearch search(plan);
  BENCHMARK("16 layouts") { return search.step(16); };
}
