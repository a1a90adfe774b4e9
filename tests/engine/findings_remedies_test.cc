#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

#include "engine/advice/change.h"
#include "engine/advice/findings.h"
#include "engine/advice/remedies.h"
#include "engine/units.h"
#include "tests/engine/plan_of.h"
#include "tests/engine/report_random_plans.h"

using namespace vram;
using namespace vram::samples;

namespace {

std::vector<Finding> findings_of(const std::string& share) {
  const Plan plan = plan_of(share);
  return findings(plan, training_bill(plan), compute_figures(plan), serving_bill(plan));
}

}  // namespace

TEST_CASE("A plan that fits needs no remedy") {
  const auto all = findings_of("model=llama-3.2-1b&gpu=h200-sxm-141gb&micro_batch=1&seq=1024");
  for (const Finding& finding : all) {
    INFO(finding.text);
    CHECK(finding.severity != Severity::error);
    CHECK_FALSE(finding.saves_bytes);
  }
}

TEST_CASE("A plan that does not fit says by how much, and what would change it") {
  const auto all = findings_of("model=llama-2-7b&gpu=h100-sxm5-80gb&framework=ddp");
  const Finding* verdict = find(all, "training_exceeds");
  REQUIRE(verdict);
  CHECK(verdict->severity == Severity::error);
  CHECK(verdict->text.find("too much") != std::string::npos);
  CHECK(find(all, "more_gpus"));
  CHECK(find(all, "qlora"));
}

TEST_CASE("Every remedy, applied, saves what it says") {
  for (const char* share :
       {"model=llama-2-7b&gpu=h100-sxm5-80gb&framework=ddp", "model=llama-3.1-70b&gpus=32&tp=4&pp=4",
        "model=llama-3.1-8b&gpu=rtx-4090-24gb&method=lora&micro_batch=4",
        "model=llama-3.1-8b&gpus=8&framework=deepspeed&attention=eager&seq=8192"}) {
    const TrainingBill before = training_bill(plan_of(share));
    for (const Finding& finding : training_remedies(plan_of(share), before, 10)) {
      if (!finding.saves_bytes) continue;
      INFO(share << " " << finding.change);
      const TrainingBill after = training_bill(plan_of(std::string(share) + "&" + finding.change));
      CHECK(before.device_bytes - after.device_bytes == *finding.saves_bytes);
      CHECK(after.verdict != Verdict::invalid);
    }
  }
}

TEST_CASE("A remedy says whether the same tokens take longer or less time") {
  int longer = 0, less = 0;
  for (const Finding& finding : training_remedies(plan_of("model=llama-2-7b&gpu=h100-sxm5-80gb&framework=ddp"),
                                                  training_bill(plan_of("model=llama-2-7b&framework=ddp")), 20)) {
    const bool says_longer = finding.text.find("% longer") != std::string::npos;
    const bool says_less = finding.text.find("% less time") != std::string::npos;
    INFO(finding.text);
    if (says_longer) CHECK(finding.time_ratio.value_or(0) > 1);
    if (says_less) CHECK(finding.time_ratio.value_or(2) < 1);
    longer += says_longer ? 1 : 0;
    less += says_less ? 1 : 0;
  }
  CHECK(longer > 0);
  CHECK(less > 0);
}

TEST_CASE("One GPU is offered nothing that shards over several") {
  const std::string share = "model=llama-2-7b&gpus=1&gpu=rtx-4090-24gb&framework=";
  for (const char* framework : {"ddp", "deepspeed", "megatron"})
    for (const Change& change : training_changes(plan_of(share + framework)))
      for (const char* sharding : {"zero_1", "zero_2", "zero_3", "fsdp"})
        CHECK(std::string_view(change.id) != sharding);
}

TEST_CASE("What makes the plan fit stands before what only helps") {
  const std::string share = "model=llama-2-7b&gpu=h100-sxm5-80gb&framework=ddp";
  bool sufficed = true;
  for (const Finding& finding : findings_of(share)) {
    if (!finding.saves_bytes || !finding.time_ratio) continue;
    INFO(finding.change);
    const bool suffices = training_bill(plan_of(share + "&" + finding.change)).verdict == Verdict::fits;
    CHECK((sufficed || !suffices));
    sufficed = suffices;
  }
}

TEST_CASE("Where no single change suffices, several together are named") {
  const std::string share = "model=llama-3.1-8b&gpu=rtx-4090-24gb&method=lora&seq=8192&micro_batch=4";
  const auto all = findings_of(share);
  const Finding* together = find(all, "together");
  REQUIRE(together);
  CHECK(training_bill(plan_of(share + "&" + together->change)).verdict == Verdict::fits);
}

TEST_CASE("A smaller micro-batch keeps the global batch") {
  const auto all = findings_of("model=llama-3.1-8b&gpu=rtx-4090-24gb&method=lora&seq=8192&micro_batch=4");
  const Finding* half = find(all, "micro_batch_half");
  REQUIRE(half);
  CHECK(half->change == "micro_batch=2&global_batch=4");
}

TEST_CASE("A server that holds too few requests gets its own remedies") {
  const std::string share = "model=llama-3-70b&serve_gpus=2&concurrency=100";
  const auto all = findings_of(share);
  REQUIRE(find(all, "serving_exceeds"));
  const double before = serving_bill(plan_of(share)).promised_concurrency.value_or(0);
  for (const char* id : {"kv_fp8", "weights_fp8", "weights_int4", "serve_gpus"}) {
    INFO(id);
    const Finding* finding = find(all, id);
    REQUIRE(finding);
    CHECK(serving_bill(plan_of(share + "&" + finding->change)).promised_concurrency.value_or(0) > before);
  }
}

TEST_CASE("A mixture too large for the GPU may keep experts of some layers in host memory") {
  const std::string share =
      "model=gpt-oss-120b&gpu=rtx-3090-24gb&engine=llamacpp&weights=mxfp4&prompt=16000&n_cpu_moe=";
  const auto all = findings_of(share + "0");
  REQUIRE(find(all, "n_cpu_moe"));
  CHECK(find(all, "n_cpu_moe")->change == "n_cpu_moe=27");  // three quarters of 36 layers, the least that is enough
  CHECK(serving_bill(plan_of(share + "27")).verdict == Verdict::fits);
  CHECK_FALSE(find(findings_of("model=llama-3-70b&gpu=rtx-3090-24gb&engine=llamacpp"), "n_cpu_moe"));
}

TEST_CASE("Of thousands of random servers every change offered saves and holds what it says", "[native]") {
  int offered = 0;
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    const PlanReading reading = read_plan(RandomPlan(seed).share());
    if (!reading.answerable) continue;
    const std::string share = write_plan(reading.plan, false);
    const Plan& plan = reading.plan;
    const ServingBill before = serving_bill(plan);
    if (before.verdict == Verdict::invalid || !before.promised_concurrency) continue;
    uint64_t larger = UINT64_MAX;
    for (const Finding& finding : serving_cures(plan, before)) {
      INFO(share << "\n" << finding.text << "\n" << finding.change);
      const Plan changed = read_plan(share + "&" + finding.change).plan;
      const ServingBill after = serving_bill(changed);
      REQUIRE(after.verdict != Verdict::invalid);
      const double saved = serving_need(plan, before) - serving_need(changed, after);
      if (finding.saves_bytes) CHECK(*finding.saves_bytes == static_cast<uint64_t>(saved));
      CHECK(finding.saves_bytes.value_or(0) <= larger);
      larger = finding.saves_bytes.value_or(0);
      const double holds = std::floor(after.promised_concurrency.value_or(0));
      CHECK(finding.text.find("then holds " + show_grouped(holds) + " request") != std::string::npos);
      ++offered;
    }
    for (const Finding& finding : serving_remedies(plan, before, 5)) {
      const ServingBill after = serving_bill(read_plan(share + "&" + finding.change).plan);
      CHECK(after.promised_concurrency.value_or(0) > *before.promised_concurrency);
    }
  }
  CHECK(offered > 1000);
}

TEST_CASE("An impossible plan names each fault and offers nothing") {
  const std::string share = "model=llama-3.1-8b&gpus=6&tp=4";
  const auto all = findings_of(share);
  CHECK(find(all, "training_invalid"));
  CHECK_FALSE(find(all, "training_exceeds"));
  CHECK_FALSE(find(all, "recompute_full"));
}

TEST_CASE("Of thousands of random plans every change offered makes the plan fit, or says what it lacks", "[native]") {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    const PlanReading reading = read_plan(RandomPlan(seed).share());
    if (!reading.answerable) continue;
    const std::string share = write_plan(reading.plan, false);
    const Plan& plan = reading.plan;
    const TrainingBill before = training_bill(plan);
    if (before.verdict != Verdict::exceeds && before.verdict != Verdict::tight) continue;
    for (const Finding& finding : training_remedies(plan, before, 5)) {
      INFO(share << "\n" << finding.text << "\n" << finding.change);
      const TrainingBill after = training_bill(read_plan(share + "&" + finding.change).plan);
      CHECK(after.verdict != Verdict::invalid);
      if (finding.saves_bytes) CHECK(before.device_bytes - after.device_bytes == *finding.saves_bytes);
      if (!finding.saves_bytes) CHECK(std::string_view(finding.id) == "other_gpu");  // more room, not less need
      const double room = static_cast<double>(after.headroom_bytes);
      const std::string says =
          room < 0 ? "still " + shown_bytes(plan, -room) + " too much" : "leaves " + shown_bytes(plan, room) + " free";
      CHECK(finding.text.find(says) != std::string::npos);
    }
  }
}

TEST_CASE("Pipeline stages that a plan could do without are named, with the change") {
  const std::string share = "model=llama-3.2-1b&gpus=8&pp=4&global_batch=64";
  const auto all = findings_of(share);
  const Finding* finding = find(all, "pipeline_not_needed");
  REQUIRE(finding);
  CHECK(finding->change == "pp=1&global_batch=64");
  CHECK(training_bill(plan_of(share + "&" + finding->change)).verdict == Verdict::fits);
  CHECK_FALSE(find(findings_of("model=llama-3.1-70b&gpus=32&tp=8&pp=4&global_batch=512"), "pipeline_not_needed"));
}

TEST_CASE("Tensor parallelism beyond a node that a plan could do without is named") {
  const auto all = findings_of("model=llama-3.1-8b&gpus=16&tp=16&global_batch=64");
  const Finding* finding = find(all, "tp_beyond_node_not_needed");
  REQUIRE(finding);
  CHECK(finding->change == "tp=8&global_batch=64");
}
