#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "engine/advice/plan_search.h"
#include "engine/advice/question.h"
#include "engine/advice/remedies.h"
#include "engine/compute/links.h"
#include "engine/preset_table.h"
#include "engine/units.h"
#include "tests/engine/plan_of.h"
#include "tests/engine/report_random_plans.h"

using namespace vram;
using namespace vram::samples;

namespace {

Answer answer_to(const std::string& share) { return answer_question(plan_of(share)); }

/// The answer on a plan of one kind of GPU with another number of them, micro-batch or length.
bool anything_fits(const std::string& share) {
  const Answer answer = answer_to(share);
  return !answer.layouts.empty() && answer.layouts.front().verdict == Verdict::fits;
}

}  // namespace

TEST_CASE("Which side a question is about") {
  CHECK_FALSE(asks_about_serving(plan_of("model=llama-3.1-8b")));
  CHECK(asks_about_serving(plan_of("question=replicas&gpus=8")));
  CHECK(asks_about_serving(plan_of("question=cheapest&view=serve")));
  CHECK(asks_about_serving(plan_of("question=cheapest&qps=5")));
  CHECK_FALSE(asks_about_serving(plan_of("question=cheapest&qps=5&tp=2")));
  CHECK(asks_about_serving(plan_of("question=serve-cheapest&qps=5&tp=2")));
  CHECK_FALSE(asks_about_serving(plan_of("question=longest-seq&view=serve")));
  CHECK(asks_about_serving(plan_of("question=cheapest&qps=5&view=plan")));
  CHECK_FALSE(asks_about_serving(plan_of("question=cheapest&gpus=8&view=plan")));
}

TEST_CASE("No random legal deployment is faster than the best row", "[native]") {
  int tried = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Plan plan = read_plan(RandomPlan(seed).share()).plan;
    if (plan.subject == nullptr || plan.accelerator == nullptr || plan.experts > 0) continue;
    for (const Key key : {Key::serve_gpus, Key::serve_tp, Key::serve_pp, Key::serve_dp, Key::serve_ep, Key::gpus_among,
                          Key::replicas, Key::tpot, Key::ttft, Key::qps})
      clear_value(plan, key);
    set_value(plan, Key::question, "fastest", nullptr);
    set_value(plan, Key::view, "serve", nullptr);
    const Answer answer = answer_question(plan);
    const bool sure = !answer.deployments.empty() && answer.deployments.front().verdict == Verdict::fits;
    for (const double gpus : {1.0, 2.0, 4.0}) {
      for (const double stages : {1.0, 2.0}) {
        Plan one = plan;
        if (std::fmod(gpus, stages) != 0 || gpus / stages > joined_gpus(plan)) continue;
        set_value(one, Key::serve_gpus, write_number(gpus), nullptr);
        set_value(one, Key::serve_pp, write_number(stages), nullptr);
        const ServingBill bill = serving_bill(one);
        if (bill.verdict != Verdict::fits || !bill.decode_seconds_per_token || !bill.promised_concurrency) continue;
        INFO(write_plan(one, false));
        REQUIRE(sure);
        CHECK(*bill.decode_seconds_per_token >= *answer.deployments.front().decode_seconds_per_token);
        ++tried;
      }
    }
  }
  CHECK(tried > 100);
}

TEST_CASE("A step of a search is small: a page looks at the clock between two of them") {
  for (const char* share :
       {"model=deepseek-v3&gpus=256&global_batch=15360", "model=llama-3.1-70b&question=context",
        "model=llama-3.1-405b&question=longest-seq&gpus=512", "model=qwen3-30b-a3b&question=replicas"}) {
    PlanSearch search(plan_of(share));
    size_t before = 0, most = 0;
    while (search.step(1)) {
      most = std::max(most, search.tried() - before);
      before = search.tried();
    }
    CAPTURE(share);
    CHECK(most <= 256);
  }
}

TEST_CASE("The fewest GPUs: so many do, and of fewer none does") {
  const Answer answer = answer_to("model=llama-3.1-70b&question=fewest-gpus");
  REQUIRE(answer.found);
  CHECK(anything_fits("model=llama-3.1-70b&gpus=" + write_number(*answer.found)));
  for (const double count : gpu_counts(plan_of("model=llama-3.1-70b"))) {
    if (count >= *answer.found) break;
    INFO(count);
    CHECK_FALSE(anything_fits("model=llama-3.1-70b&gpus=" + write_number(count)));
  }
}

TEST_CASE("The longest sequence fits, and a longer one does not") {
  const std::string share = "model=llama-3.2-1b&gpus=2&gpu=rtx-4090-24gb&global_batch=16";
  const Answer answer = answer_to(share + "&question=longest-seq");
  REQUIRE(answer.found);
  REQUIRE_FALSE(answer.layouts.empty());
  CHECK(answer.layouts.front().plan.seq == *answer.found);
  CHECK(answer.layouts.front().verdict == Verdict::fits);
  CHECK_FALSE(anything_fits(share + "&seq=" + write_number(*answer.found + 1024)));
}

TEST_CASE("The largest micro-batch fits, and no larger one of the search does") {
  const std::string share = "model=llama-3.1-8b&gpus=8&framework=fsdp&global_batch=512";
  const Answer answer = answer_to(share + "&question=largest-batch");
  REQUIRE(answer.found);
  REQUIRE_FALSE(answer.layouts.empty());
  CHECK(answer.layouts.front().plan.micro_batch == *answer.found);
  for (const LayoutRow& row : answer_to(share).layouts) CHECK(row.plan.micro_batch <= *answer.found);
}

TEST_CASE("The cheapest row meets the deadline, and no row costs less") {
  const std::string share =
      "model=llama-3.1-8b&tokens=20e9&question=cheapest&deadline=3&gpus_among=h100-sxm5-80gb,"
      "a100-sxm4-80gb";
  const Answer answer = answer_to(share);
  REQUIRE_FALSE(answer.layouts.empty());
  for (const LayoutRow& row : answer.layouts) {
    CHECK(row.days.value_or(9) <= 3);
    CHECK(row.usd.value_or(0) >= answer.layouts.front().usd.value_or(1e9));
  }
}

TEST_CASE("Nothing fits: what is lacking is said") {
  const Answer answer = answer_to("model=llama-3.1-405b&gpus=8");
  CHECK(answer.layouts.empty());
  REQUIRE(answer.lacking_bytes);
  CHECK(*answer.lacking_bytes > 100e9);
}

TEST_CASE("Nothing keeps to the deadline or the budget: the fastest or cheapest layout that fits is the nearest") {
  const std::string share = "model=llama-3.1-70b&gpus=64&tokens=1e12";
  const Answer open = answer_to(share);
  for (const char* limit : {"&deadline=30", "&budget=1000000", "&budget=1000000&deadline=30"}) {
    INFO(limit);
    const Answer answer = answer_to(share + limit);
    CHECK(answer.layouts.empty());
    CHECK_FALSE(answer.lacking_bytes);
    REQUIRE(answer.nearest_layout);
    CHECK(answer.nearest_layout->days == open.layouts.front().days);
    CHECK(answer.nearest_layout->device_bytes == open.layouts.front().device_bytes);
  }
}

TEST_CASE("No deployment meets the targets: the nearest misses them by the least factor") {
  const std::string share = "model=llama-3.1-70b&view=serve&question=cheapest&serve_gpus=8";
  const Answer answer = answer_to(share + "&tpot=0.001&ttft=5");
  CHECK(answer.deployments.empty());
  REQUIRE(answer.nearest_deployment);
  const Answer fastest = answer_to("model=llama-3.1-70b&view=serve&question=fastest&serve_gpus=8");
  CHECK(answer.nearest_deployment->decode_seconds_per_token == fastest.deployments.front().decode_seconds_per_token);
}

TEST_CASE("Where no speed is known nothing is too slow for a target, nor the nearest to it") {
  for (const char* asked :
       {"fit&tpot=0.05", "fit&ttft=1", "fit&qps=5", "fit&tpot=0.05&ttft=1&qps=5", "replicas&qps=5"}) {
    INFO(asked);
    const Answer answer = answer_to(std::string("gpu=custom&gpu_mem=80&view=serve&question=") + asked);
    CHECK(answer.deployments.empty());
    CHECK_FALSE(answer.nearest_deployment);
    size_t unknown = 0;
    for (const FellOut& group : answer.fell_out) {
      const std::string_view reason = group.reason;
      CHECK_FALSE(reason.starts_with("too "));
      if (reason == "speed not known, so that no target can be checked") unknown = group.count;
    }
    CHECK(unknown > 0);
  }
}

TEST_CASE("No deployment fits: what the nearest lacks is what one GPU must hold, less its memory") {
  const Answer answer = answer_to("model=llama-3.1-405b&question=concurrency&serve_tp=2");
  CHECK(answer.deployments.empty());
  CHECK_FALSE(answer.nearest_deployment);
  REQUIRE(answer.lacking_bytes);
  const Plan leanest = plan_of("model=llama-3.1-405b&serve_tp=2&weights=awq&kv=fp8");
  const ServingBill bill = serving_bill(leanest);
  CHECK(*answer.lacking_bytes <= static_cast<uint64_t>(serving_need(leanest, bill)) - bill.capacity_bytes);
  CHECK(*answer.lacking_bytes > 20e9);
}

TEST_CASE("Beside a training job the server is asked by a word of its own, and answers the same") {
  for (const char* word : {"fastest", "cheapest"}) {
    const std::string share = "model=llama-3.1-8b&concurrency=8&question=";
    const Answer alone = answer_to(share + word), beside = answer_to(share + "serve-" + word + "&gpus=8&tp=2");
    REQUIRE_FALSE(beside.deployments.empty());
    REQUIRE(alone.deployments.size() == beside.deployments.size());
    for (size_t i = 0; i < alone.deployments.size(); ++i)
      CHECK(alone.deployments[i].merits == beside.deployments[i].merits);
  }
}

TEST_CASE("Of several kinds of GPU each has its best row, and a kind without one is named") {
  const std::string list = "&gpus_among=h100-sxm5-80gb,a100-sxm4-80gb,rtx-3060-12gb";
  for (const char* share : {"model=llama-3.1-8b&gpus=8&question=fastest", "model=llama-3.1-8b&question=fewest-gpus"}) {
    INFO(share);
    const Answer answer = answer_to(share + list);
    REQUIRE(answer.layouts_by_gpu.size() == 2);
    CHECK(answer.gpus_without == std::vector<std::string>{"rtx-3060-12gb"});
    for (const LayoutRow& row : answer.layouts_by_gpu) {
      const Answer alone = answer_to(share + ("&gpu=" + row.plan.gpu));
      CHECK(row.tokens_per_second == alone.layouts.front().tokens_per_second);
      CHECK(row.plan.gpus == alone.layouts.front().plan.gpus);
    }
  }
  const Answer served = answer_to("model=llama-3.1-70b&question=replicas&qps=20&tpot=0.05" + list);
  REQUIRE(served.deployments_by_gpu.size() == 2);
  for (const DeploymentRow& row : served.deployments_by_gpu)
    CHECK(row.gpus == *answer_to("model=llama-3.1-70b&question=replicas&qps=20&tpot=0.05&gpu=" + row.plan.gpu).found);
}

TEST_CASE("All accelerators: each has a row or is named as having none") {
  const Answer answer = answer_to("model=llama-3.1-8b&question=replicas&gpus_among=all");
  CHECK(answer.deployments_by_gpu.size() + answer.gpus_without.size() == hardware_presets().size());
}

TEST_CASE("One kind of GPU has no rows of its own") {
  const Answer answer = answer_to("model=llama-3.1-8b&gpus=8");
  CHECK(answer.layouts_by_gpu.empty());
  CHECK(answer.gpus_without.empty());
}

TEST_CASE("A deadline needs the tokens of the run") {
  CHECK(answer_to("model=llama-3.1-8b&gpus=8&deadline=3&tokens=1e9").messages.empty());
  const Answer answer = answer_to("model=llama-3.1-8b&gpus=8&deadline=3");
  CHECK(answer.layouts.empty());
  REQUIRE(answer.messages.size() == 1);
  CHECK(answer.messages[0].key == "deadline");
}

TEST_CASE("The limits of the layout at hand fit, and one step further does not") {
  for (const char* share : {"model=llama-3.1-8b&gpus=8&tp=2&framework=megatron&global_batch=64",
                            "model=llama-3.1-70b&gpus=64&tp=8&pp=4&global_batch=512",
                            "model=llama-3.1-8b&gpus=8&framework=fsdp2&recompute=full"}) {
    INFO(share);
    const std::vector<Limit> limits = answer_to(share).limits;
    const auto verdict_of = [&](const std::string& change) {
      return training_bill(plan_of(std::string(share) + "&" + change)).verdict;
    };
    for (const char* id : {"fewest_gpus", "largest_batch", "longest_seq"}) {
      const Limit* limit = find(limits, id);
      REQUIRE(limit);
      INFO(limit->text);
      CHECK(verdict_of(limit->change) == Verdict::fits);
    }
    const Plan plan = plan_of(share);
    const double size = find(limits, "largest_batch")->value + 1, step = size * plan.dp();
    const double batch = std::ceil(plan.global_batch / step) * step;
    CHECK(verdict_of("micro_batch=" + write_number(size) + "&global_batch=" + write_number(batch)) != Verdict::fits);
    const double tokens = find(limits, "longest_seq")->value;
    if (tokens < 131072) CHECK(verdict_of("seq=" + write_number(tokens + 128)) != Verdict::fits);
  }
}

TEST_CASE("A deployment's share string gives its figures, and it meets what is asked") {
  for (const char* share :
       {"model=llama-3.1-70b&question=replicas&qps=20&tpot=0.05&ttft=1", "model=llama-3.1-8b&question=concurrency",
        "model=qwen3-30b-a3b&question=cheapest&view=serve&qps=4", "model=llama-3.1-8b&question=context&concurrency=16",
        "model=llama-3.1-8b&question=fewest-gpus&view=serve&concurrency=500"}) {
    INFO(share);
    const Answer answer = answer_to(share);
    CHECK(answer.serving);
    REQUIRE_FALSE(answer.deployments.empty());
    size_t sum = answer.deployments.size();
    for (const FellOut& group : answer.fell_out) sum += group.count;
    CHECK(sum == answer.tried);
    for (const DeploymentRow& row : answer.deployments) {
      const std::string of_row = write_plan(row.plan, false);
      INFO(of_row);
      const Plan read = plan_of(of_row);
      const ServingBill bill = serving_bill(read);
      CHECK(write_plan(read, false) == of_row);
      CHECK(bill.verdict == Verdict::fits);
      CHECK(bill.usd_per_million_tokens == row.usd_per_million_tokens);
      CHECK(bill.decode_seconds_per_token == row.decode_seconds_per_token);
      if (read.tpot > 0) CHECK(*bill.decode_seconds_per_token <= read.tpot);
      if (read.ttft > 0) CHECK(*bill.prefill_seconds <= read.ttft);
      if (read.qps > 0) CHECK(*bill.requests_per_second >= read.qps * (1 - 1e-9));
    }
  }
}

TEST_CASE("The requests of a plan are held by its replicas together") {
  const Answer answer = answer_to("model=llama-3.1-8b&question=replicas&concurrency=3000");
  REQUIRE_FALSE(answer.deployments.empty());
  for (const DeploymentRow& row : answer.deployments) {
    CHECK(row.plan.concurrency * row.plan.replicas >= 3000);
    CHECK(row.gpus >= *answer.found);
  }
}

TEST_CASE("Switches stand in the order people should try them, each with what it is worth") {
  const std::string share = "model=llama-3.1-8b&gpus=8&tp=2&micro_batch=4&global_batch=64&attention=eager";
  const uint64_t before = training_bill(plan_of(share)).device_bytes;
  std::string order;
  for (const Switch& one : answer_to(share).switches) {
    order += one.change.id + std::string(" ");
    const TrainingBill after = training_bill(plan_of(share + "&" + fragment(one.change)));
    INFO(one.change.id);
    CHECK(static_cast<int64_t>(before) - static_cast<int64_t>(after.device_bytes) == one.saves_bytes);
    CHECK(after.verdict == one.verdict);
  }
  CHECK(order ==
        "attention_flash loss_fused recompute_selective recompute_full micro_batch_half micro_batch_one "
        "offload_optimizer optimizer_8bit tensor_parallel pipeline_parallel more_gpus "
        "lora qlora micro_batch_twice no_tensor_parallel ");
}
