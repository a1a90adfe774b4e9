// How long the engine takes for one plan. Run by hand: build/native/vram-bench [--benchmark-samples N] [TEST].
#include <algorithm>
#include <catch2/benchmark/catch_benchmark.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/preset_table.h"
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

/// Seconds of the fastest of some tries: what the machine does besides is in the others.
double seconds_of_bills(const Plan& plan) {
  using Clock = std::chrono::steady_clock;
  double fastest = 1;
  for (int tries = 0; tries < 50; ++tries) {
    const Clock::time_point start = Clock::now();
    training_bill(plan), compute_figures(plan), serving_bill(plan);
    fastest = std::min(fastest, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return fastest;
}

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

TEST_CASE("Training, compute and serving", "[bills]") {
  for (const Subject& subject : kPlans) {
    const Plan plan = read_plan(subject.share).plan;
    BENCHMARK(title("bills", subject)) {
      return std::tuple(training_bill(plan), compute_figures(plan), serving_bill(plan));
    };
  }
}

TEST_CASE("Whole report of plans that fit, what would change it with it", "[report]") {
  for (const Subject& subject : kPlans) {
    const PlanReading reading = read_plan(subject.share);
    BENCHMARK(title("report", subject)) { return report(reading); };
  }
}

TEST_CASE("Training, compute and serving of every model, the slowest", "[presets]") {
  for (const char* layout : {"", "&gpus=64&tp=8&pp=4"}) {
    std::vector<std::pair<double, std::string_view>> seconds;
    for (const PresetRow& row : model_presets())
      seconds.emplace_back(seconds_of_bills(read_plan("model=" + std::string(row.id) + layout).plan), row.id);
    std::sort(seconds.rbegin(), seconds.rend());
    std::printf("%zu models%s, median %.1f us, slowest:\n", seconds.size(), layout,
                1e6 * seconds[seconds.size() / 2].first);
    for (size_t i = 0; i < 5; ++i)
      std::printf("  %-32s %5.1f us\n", std::string(seconds[i].second).c_str(), 1e6 * seconds[i].first);
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
