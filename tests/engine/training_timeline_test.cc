#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <map>
#include <string_view>

#include "engine/training/schedule.h"
#include "engine/training/simulate.h"
#include "engine/training/timeline.h"
#include "tests/engine/training_samples.h"

using namespace vram;
using namespace vram::samples;

namespace {

Plan plan(const std::string& share) { return read_plan(share).plan; }

std::vector<TimelinePoint> of_stage(const std::vector<TimelinePoint>& all, int stage) {
  std::vector<TimelinePoint> points;
  for (const TimelinePoint& point : all)
    if (point.stage == stage) points.push_back(point);
  return points;
}

size_t count(const std::vector<TimelinePoint>& points, std::string_view event) {
  return static_cast<size_t>(
      std::count_if(points.begin(), points.end(), [&](const TimelinePoint& p) { return event == p.event; }));
}

constexpr const char* kSchedules[] = {
    "gpus=1&global_batch=3",
    "gpus=4&pp=4&global_batch=2",
    "gpus=4&pp=4&global_batch=8",
    "gpus=4&pp=4&global_batch=8&recompute=full",
    "gpus=4&pp=4&global_batch=8&schedule=gpipe",
    "gpus=4&pp=4&vpp=4&global_batch=8",
    "gpus=4&pp=4&vpp=4&global_batch=4",
    "gpus=4&pp=4&global_batch=8&schedule=zerobubble",
    "gpus=4&pp=4&global_batch=8&schedule=dualpipe",
    "gpus=16&tp=2&pp=8&global_batch=64&schedule=dualpipe",
};

}  // namespace

TEST_CASE("A rank runs every micro-batch forward, backward and free of its activations, chunk by chunk") {
  const std::string share = GENERATE(from_range(std::begin(kSchedules), std::end(kSchedules)));
  CAPTURE(share);
  const Plan p = plan("model=llama-2-7b&" + share);
  const int drawn = static_cast<int>(p.micro_batches());
  for (const Stage& stage : pipeline_stages(p)) {
    std::map<std::pair<int, int>, int> forward, backward, freed;  // of each chunk and micro-batch
    for (const Pass& pass : rank_passes(p, stage.index, drawn)) {
      const std::pair<int, int> of{pass.chunk, pass.micro_batch};
      if (pass.kind == PassKind::forward) ++forward[of];
      if (pass.kind == PassKind::backward) CHECK((++backward[of], forward[of] == 1));
      if (pass.frees) CHECK((++freed[of], backward[of] == 1));
    }
    const bool both_ways = p.schedule == Schedule::dualpipe;
    CHECK(forward.size() == static_cast<size_t>(drawn) * (both_ways ? 1 : stage.ranges.size()));
    CHECK(backward == forward);
    CHECK(freed == forward);
  }
}

TEST_CASE("The passes of a schedule keep as many chunks as the bill says") {
  const std::string share = GENERATE(from_range(std::begin(kSchedules), std::end(kSchedules)));
  CAPTURE(share);
  const Plan p = plan("model=llama-2-7b&" + share);
  for (const Stage& stage : pipeline_stages(p)) {
    int live = 0, most = 0;
    for (const Pass& pass : rank_passes(p, stage.index, static_cast<int>(p.micro_batches()))) {
      if (pass.kind == PassKind::forward) most = std::max(most, ++live);
      if (pass.frees) --live;
    }
    CHECK(most == stage.chunks_in_flight);
  }
}

TEST_CASE("No schedule waits for itself") {
  const std::string share = GENERATE(from_range(std::begin(kSchedules), std::end(kSchedules)));
  CAPTURE(share);
  const Plan p = plan("model=llama-2-7b&" + share);
  const int drawn = static_cast<int>(p.micro_batches());
  const auto ranks = simulate(p, pipeline_stages(p), drawn);
  for (size_t k = 0; k < ranks.size(); ++k) CHECK(ranks[k].size() == rank_passes(p, static_cast<int>(k), drawn).size());
}

TEST_CASE("The bubble of 1F1B is (p - 1) / m of the work") {
  // arXiv 2104.04473, section 2.2.1. Alike stages: no head, no embedding.
  const Plan p = plan("model=custom&layers=32&hidden=4096&heads=32&ffn=16384&vocab=1&gpus=4&pp=4&global_batch=8");
  const auto ranks = simulate(p, pipeline_stages(p), 8);
  double work = 0;
  for (const TimedPass& timed : ranks[0]) work += timed.end - timed.begin;
  const double bubble = ranks[0].back().end / work - 1;
  CHECK(bubble > 3.0 / 8 - 0.001);
  CHECK(bubble < 3.0 / 8 + 0.001);
}

TEST_CASE("The most of a stage's timeline is its peak in the bill") {
  const std::string model = GENERATE("model=llama-2-7b&", "model=mixtral-8x7b&", "model=gemma-2-9b&");
  const std::string share =
      GENERATE(from_range(std::begin(kSchedules), std::end(kSchedules)),
               values<const char*>(
                   {"framework=ddp&method=lora", "framework=fsdp&gpus=8&recompute=full&micro_batch=4&seq=8192",
                    "framework=fsdp&gpus=8&method=lora&recompute=full", "framework=ddp&optimizer_in_backward=1",
                    "framework=deepspeed&gpus=8&zero=3&recompute=selective", "gpus=4&pp=4&global_batch=400",
                    "gpus=4&pp=4&global_batch=600&schedule=gpipe", "framework=fsdp2&gpus=8&loss=fused&seq=512"}));
  CAPTURE(model + share);
  const Plan p = plan(model + share);
  const std::vector<TimelinePoint> timeline = training_timeline(p);
  for (const StageBill& stage : training_bill(p).stages) {
    uint64_t most = 0;
    for (const TimelinePoint& point : of_stage(timeline, stage.stage)) most = std::max(most, point.allocated_bytes);
    CHECK(most == stage.allocated_bytes);
  }
}

TEST_CASE("What does not come and go stays the same all step long, but for the optimizer's temporaries") {
  const std::string share = GENERATE(from_range(std::begin(kSchedules), std::end(kSchedules)));
  CAPTURE(share);
  const Plan p = plan("model=llama-2-7b&" + share);
  const TrainingBill bill = training_bill(p);
  uint64_t kept = 0;
  for (const Line& line : bill.phases.front().lines)
    for (const char* id : {"weights", "optimizer", "adapters", "buffers"})
      if (id == std::string_view(line.id)) kept += line.bytes;
  for (const TimelinePoint& point : of_stage(training_timeline(p), bill.stage)) {
    CAPTURE(point.event, point.t);
    const uint64_t passing =
        point.gradients_bytes + point.activations_bytes + point.logits_bytes + point.gathered_bytes;
    const bool tail = std::string_view(point.event) == "reduce" || std::string_view(point.event) == "optimizer";
    CHECK((point.allocated_bytes - passing == kept || tail));
    CHECK(point.allocated_bytes - passing >= kept);
  }
}

TEST_CASE("The timeline of one stage is its part of the whole") {
  const std::string share = GENERATE(from_range(std::begin(kSchedules), std::end(kSchedules)),
                                     values<const char*>({"gpus=4&pp=4&global_batch=400", "params=7e9"}));
  CAPTURE(share);
  const Plan p = plan("model=llama-2-7b&" + share);
  const std::vector<TimelinePoint> all = training_timeline(p, 5);
  for (int stage = 0; stage < static_cast<int>(p.pp); ++stage) {
    const std::vector<TimelinePoint> whole = of_stage(all, stage), alone = training_timeline(p, 5, stage);
    REQUIRE(alone.size() == whole.size());
    CHECK(std::equal(alone.begin(), alone.end(), whole.begin(), [](const TimelinePoint& a, const TimelinePoint& b) {
      return a.t == b.t && a.stage == b.stage && std::string_view(a.event) == b.event &&
             a.allocated_bytes == b.allocated_bytes;
    }));
  }
}

TEST_CASE("A timeline goes layer by layer, from the step's begin to its end") {
  const std::vector<TimelinePoint> points = training_timeline(plan("model=llama-2-7b&framework=ddp"), 5);
  REQUIRE(points.size() == 32 + 1 + 32 + 3);
  CHECK(count(points, "forward") == 32);
  CHECK(count(points, "loss") == 1);
  CHECK(count(points, "backward") == 32);
  CHECK(points.front().t == 0);
  CHECK(points.front().layer == 0);
  CHECK(points[33].layer == 31);  // backward begins with the last layer
  CHECK(points.back().t == 5);
  CHECK(std::string_view(points.back().event) == "end");
  CHECK(std::is_sorted(points.begin(), points.end(),
                       [](const TimelinePoint& a, const TimelinePoint& b) { return a.t < b.t; }));
  // Forward fills, layer by layer, as much as one layer keeps.
  const uint64_t step = points[1].allocated_bytes - points[0].allocated_bytes;
  CHECK(points[31].allocated_bytes - points[30].allocated_bytes - step <= 1);
}

TEST_CASE("1F1B shows the micro-batches in flight: the first stage fills up, the last one never does") {
  const Plan p = plan("model=llama-2-7b&gpus=4&pp=4&global_batch=8");
  const std::vector<TimelinePoint> all = training_timeline(p);
  const auto before_backward = [&](int stage) {
    const std::vector<TimelinePoint> points = of_stage(all, stage);
    const auto first = std::find_if(points.begin(), points.end(),
                                    [](const TimelinePoint& x) { return std::string_view(x.event) == "backward"; });
    return std::count_if(points.begin(), first, [](const TimelinePoint& x) { return x.layer % 8 == 7; });
  };
  CHECK(before_backward(0) == 4);
  CHECK(before_backward(2) == 2);
  CHECK(before_backward(3) == 1);
  CHECK(count(of_stage(all, 0), "waiting") > 0);
}

TEST_CASE("Many micro-batches are drawn as a few that repeat") {
  const std::vector<TimelinePoint> few = training_timeline(plan("model=llama-2-7b&gpus=4&pp=4&global_batch=16"));
  const std::vector<TimelinePoint> many = training_timeline(plan("model=llama-2-7b&gpus=4&pp=4&global_batch=1600"));
  CHECK(many.size() == few.size() + 4);
  CHECK(count(many, "repeats") == 4);
  int last = 0;
  for (const TimelinePoint& point : many) last = std::max(last, point.micro_batch);
  CHECK(last == 1599);
}

TEST_CASE("Without layers the timeline is the phases") {
  const std::vector<TimelinePoint> points = training_timeline(plan("model=custom&params=7e9"));
  REQUIRE_FALSE(points.empty());
  CHECK(std::string_view(points.front().event) == "forward");
  CHECK(std::string_view(points.back().event) == "optimizer");
}

TEST_CASE("An invalid plan has no timeline") { CHECK(training_timeline(plan("model=llama-2-7b&gpus=3&tp=2")).empty()); }
