#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/advice/layouts.h"
#include "engine/advice/plan_search.h"
#include "engine/compute/compute.h"
#include "engine/units.h"
#include "tests/engine/plan_of.h"
#include "tests/engine/report_random_plans.h"

using namespace vram;
using namespace vram::samples;

namespace {

const char* const kSmallPlans[] = {
    "model=llama-3.1-8b&gpus=8&global_batch=16",
    "model=llama-3.1-8b&gpus=8&framework=fsdp&global_batch=32",
    "model=llama-3.1-8b&gpus=4&framework=ddp&method=lora",
    "model=qwen3-14b&gpus=8&framework=deepspeed&global_batch=64",
    "model=llama-3.1-8b&gpus=16&framework=fsdp2&seq=16384&global_batch=32",
    "model=mixtral-8x7b&gpus=16&global_batch=32&gpu=h200-sxm-141gb",
    "model=llama-3.1-70b&gpus=24&global_batch=48&tokens=1e12&budget=1e9",
};

/// Every layout of the plan's space, one by one: no order, no pruning.
template <class Use>
void each_layout(const Plan& asked, Use use) {
  Plan plan = asked;
  if (!plan.has(Key::global_batch))
    set_value(plan, Key::global_batch, write_number(compared_global_batch(plan)), nullptr);
  for (const Spread& spread : spreads(plan)) {
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      for (const double micro_batch : micro_batch_sizes(plan, spread, kMostMicroBatch)) {
        Plan laid = plan;
        lay_out({spread, recompute, micro_batch}, laid);
        use(laid);
      }
    }
  }
}

double seconds_per_token(const ComputeFigures& figures) { return 1 / figures.tokens_per_second.value_or(1e300); }

}  // namespace

TEST_CASE("The search finds what trying every layout finds") {
  for (const char* share : kSmallPlans) {
    INFO(share);
    const Plan plan = plan_of(share);
    const Answer answer = answer_question(plan);
    size_t tried = 0;
    double fastest = 1e300, leanest = 1e300;
    each_layout(plan, [&](const Plan& laid) {
      ++tried;
      const TrainingBill bill = training_bill(laid);
      if (bill.verdict != Verdict::fits) return;
      fastest = std::min(fastest, seconds_per_token(compute_figures(laid)));
      leanest = std::min(leanest, static_cast<double>(bill.device_bytes));
    });
    CHECK(answer.tried == tried);
    REQUIRE_FALSE(answer.layouts.empty());
    CHECK(1 / answer.layouts.front().tokens_per_second.value_or(0) == fastest);
    uint64_t least = UINT64_MAX;
    for (const LayoutRow& row : answer.layouts) least = std::min(least, row.device_bytes);
    CHECK(static_cast<double>(least) <= leanest * 1.01);
  }
}

TEST_CASE("A larger micro-batch never takes less memory, at one global batch") {
  for (const char* share : kSmallPlans) {
    const Plan plan = plan_of(share);
    for (const Spread& spread : spreads(plan)) {
      const bool frees_gradients = spread.framework == Framework::ddp || spread.framework == Framework::fsdp;
      std::vector<double> sizes = micro_batch_sizes(plan, spread, kMostMicroBatch);
      if (frees_gradients && !sizes.empty()) sizes.pop_back();
      for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
        uint64_t before = 0;
        for (const double size : sizes) {
          Plan laid = plan;
          lay_out({spread, recompute, size}, laid);
          const TrainingBill bill = training_bill(laid);
          if (bill.verdict == Verdict::invalid) continue;
          INFO(write_plan(laid, false));
          CHECK(bill.device_bytes >= before);
          before = bill.device_bytes;
        }
      }
    }
  }
}

TEST_CASE("Every row's share string gives the row's figures") {
  for (const char* share : kSmallPlans) {
    for (const LayoutRow& row : answer_question(plan_of(share)).layouts) {
      const std::string of_row = write_plan(row.plan, false);
      INFO(of_row);
      const Plan read = plan_of(of_row);
      CHECK(write_plan(read, false) == of_row);
      const TrainingBill bill = training_bill(read);
      const ComputeFigures figures = compute_figures(read);
      CHECK(bill.device_bytes == row.device_bytes);
      CHECK(bill.verdict == row.verdict);
      CHECK(figures.mfu == row.mfu);
      CHECK(figures.step_seconds == row.step_seconds);
      CHECK(figures.usd == row.usd);
    }
  }
}

TEST_CASE("Layouts tried are rows, or fell out for a reason that is named") {
  for (const char* share : kSmallPlans) {
    const Answer answer = answer_question(plan_of(share));
    size_t sum = answer.layouts.size();
    for (const FellOut& group : answer.fell_out) sum += group.count;
    CHECK(sum == answer.tried);
  }
}

TEST_CASE("No random legal layout is faster than the best row") {
  for (int i = 0; i < 100; ++i) {
    PlanReading reading = read_plan(RandomPlan(static_cast<uint32_t>(i)).share());
    Plan& plan = reading.plan;
    if (!reading.answerable || !training_faults(plan).empty() || plan.gpus > 64) continue;
    clear_value(plan, Key::question);
    clear_value(plan, Key::mfu);
    const Answer answer = answer_question(plan);
    if (answer.serving) continue;
    uint32_t pick = static_cast<uint32_t>(i) * 2654435761u;  // Knuth's multiplicative hash
    const bool sure = !answer.layouts.empty() && answer.layouts.front().verdict == Verdict::fits;
    const double best = sure ? seconds_per_token(compute_figures(answer.layouts.front().plan)) : 0;
    each_layout(plan, [&](const Plan& laid) {
      pick = pick * 1664525u + 1013904223u;
      if (pick >> 28 != 0) return;  // one of sixteen
      const TrainingBill bill = training_bill(laid);
      if (bill.verdict != Verdict::fits || bill.host_verdict == Verdict::exceeds) return;
      INFO(write_plan(laid, false));
      REQUIRE(sure);
      CHECK(seconds_per_token(compute_figures(laid)) >= best);
    });
  }
}

TEST_CASE("Slices of any size give the same answer") {
  const Plan plan = plan_of("model=llama-3.1-70b&gpus=32&global_batch=64");
  const Answer whole = answer_question(plan);
  PlanSearch search(plan);
  size_t slices = 0;
  double before = 0;
  while (search.step(7)) {
    ++slices;
    CHECK(search.progress() >= before);
    before = search.progress();
  }
  CHECK(slices > 20);
  const Answer sliced = search.answer();
  CHECK(sliced.tried == whole.tried);
  REQUIRE(sliced.layouts.size() == whole.layouts.size());
  for (size_t i = 0; i < whole.layouts.size(); ++i)
    CHECK(write_plan(sliced.layouts[i].plan, false) == write_plan(whole.layouts[i].plan, false));
}
