#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "engine/plan/percent.h"
#include "engine/report/report.h"
#include "tests/engine/report_random_plans.h"

using namespace vram;

TEST_CASE("A draft, finished, is the whole report") {
  for (uint32_t seed = 4000; seed < 4100; ++seed) {
    const std::string share =
        RandomPlan(seed).share() + "&vs=" + percent_encode(RandomPlan(seed + 1).share() + "&tp=x");
    const Report before = report(share);
    const std::string changed = share + "&micro_batch=3";
    Report draft = draft_report(read_plan(changed), before);
    CHECK(draft.is_draft == true);
    finish(draft);
    INFO(changed);
    CHECK(report_json(draft) == report_json(report(changed)));
  }
}

TEST_CASE("A draft says whether a plan fits, and leaves open what would make it fit") {
  const std::string share = "model=llama-2-7b&gpu=h100-sxm5-80gb&framework=ddp";
  const auto says = [](const Report& report, std::string_view id) {
    return std::any_of(report.findings.begin(), report.findings.end(),
                       [id](const Finding& finding) { return id == finding.id; });
  };
  const Report whole = report(share), draft = draft_report(read_plan(share), whole);
  CHECK(says(whole, "more_gpus"));
  CHECK_FALSE(says(draft, "more_gpus"));
  CHECK(says(draft, "training_exceeds"));
  CHECK(draft.training.device_bytes == whole.training.device_bytes);
}

TEST_CASE("A draft takes the plan compared with from the report before, where it is the same") {
  const std::string share = "model=llama-2-7b&vs=" + percent_encode("model=llama-2-7b&zero=3");
  const Report before = report(share);
  CHECK(draft_report(read_plan(share + "&seq=8192"), before).other == before.other);
  CHECK(draft_report(read_plan("vs=" + percent_encode("model=llama-3.1-8b")), before).other != before.other);
}
