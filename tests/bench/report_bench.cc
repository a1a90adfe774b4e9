// How long the engine takes for one plan. Run by hand: build/native/vram-bench [--benchmark-samples N] [TEST].
#include <catch2/benchmark/catch_benchmark.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/report/report.h"

namespace {

using namespace vram;

struct Subject {
  const char* name;
  const char* share;
};

constexpr Subject kPlans[] = {
    {"8B, FSDP on 8 GPUs", "model=llama-3.1-8b&gpus=8&framework=fsdp"},
    {"70B, tp 8 pp 4", "model=llama-3.1-70b&gpus=64&tp=8&pp=4&seq=8192"},
    {"Mixtral, ep 8", "model=mixtral-8x7b&gpus=64&tp=2&ep=8&pp=2&seq=4096&sp=1"},
    {"DeepSeek-V3, pp 16 ep 64",
     "model=deepseek-v3&gpus=2048&gpu=h800-sxm5-80gb&pp=16&ep=64&seq=4096&global_batch=15360&precision=fp8&"
     "recompute=selective&recompute_modules=mla_up_proj,layernorm"},
    {"8B, QLoRA on one GPU", "model=llama-3.1-8b&gpu=rtx-4090-24gb&method=qlora&recompute=full"},
    {"70B, served by 8 GPUs", "model=llama-3.1-70b&gpus=64&tp=8&pp=4&serve_gpus=8&concurrency=64&prompt=4096"},
};

constexpr Subject kTooLarge[] = {
    {"8B on one GPU", "model=llama-3.1-8b"},
    {"70B on 8 GPUs", "model=llama-3.1-70b&gpus=8&tp=8&seq=8192"},
    {"DeepSeek-V3 on 256 GPUs", "model=deepseek-v3&gpus=256&pp=16&ep=16&seq=4096"},
};

std::string title(const char* what, const Subject& subject) { return std::string(what) + ": " + subject.name; }

}  // namespace

TEST_CASE("A share string is read", "[read]") {
  for (const Subject& subject : kPlans) {
    BENCHMARK(title("read_plan", subject)) { return read_plan(subject.share); };
  }
}

TEST_CASE("A layout search changes the layout and resolves", "[resolve]") {
  for (const Subject& subject : kPlans) {
    Plan plan = read_plan(subject.share).plan;
    BENCHMARK(title("resolve", subject)) {
      resolve(plan);
      return plan.tp;
    };
  }
}

TEST_CASE("Training bill", "[training]") {
  for (const Subject& subject : kPlans) {
    const Plan plan = read_plan(subject.share).plan;
    BENCHMARK(title("training_bill", subject)) { return training_bill(plan); };
  }
}

TEST_CASE("Compute figures", "[compute]") {
  for (const Subject& subject : kPlans) {
    const Plan plan = read_plan(subject.share).plan;
    BENCHMARK(title("compute_figures", subject)) { return compute_figures(plan); };
  }
}

TEST_CASE("Serving bill", "[serving]") {
  for (const Subject& subject : kPlans) {
    const Plan plan = read_plan(subject.share).plan;
    BENCHMARK(title("serving_bill", subject)) { return serving_bill(plan); };
  }
}

TEST_CASE("Whole report of plans that fit", "[report]") {
  for (const Subject& subject : kPlans) {
    const PlanReading reading = read_plan(subject.share);
    BENCHMARK(title("report", subject)) { return report(reading); };
  }
}

TEST_CASE("Findings of plans that do not fit", "[findings]") {
  for (const Subject& subject : kTooLarge) {
    const Plan plan = read_plan(subject.share).plan;
    const TrainingBill training = training_bill(plan);
    const ComputeFigures compute = compute_figures(plan);
    const ServingBill serving = serving_bill(plan);
    REQUIRE(training.verdict == Verdict::exceeds);
    BENCHMARK(title("findings", subject)) { return findings(plan, training, compute, serving); };
  }
}
