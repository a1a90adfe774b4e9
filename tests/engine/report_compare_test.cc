#include <catch2/catch_test_macros.hpp>

#include "engine/plan/percent.h"
#include "engine/report/compare.h"
#include "tests/engine/plan_samples.h"

using namespace vram;

namespace {

Comparison compared(const std::string& here, const std::string& there) { return compare(report(here), report(there)); }

const ComparedFigure* figure_of(const Comparison& comparison, std::string_view id) {
  for (const ComparedFigure& figure : comparison.figures)
    if (id == figure.id) return &figure;
  return nullptr;
}

std::string with_vs(const std::string& here, const std::string& there) { return here + "&vs=" + percent_encode(there); }

/// On each side the children of a line add up to it, where it has any there.
void check_sums(const std::vector<ComparedLine>& lines, std::optional<uint64_t> ComparedLine::*side) {
  for (size_t i = 0; i < lines.size(); ++i) {
    uint64_t sum = 0;
    for (size_t j = i + 1; j < lines.size() && lines[j].depth > lines[i].depth; ++j) {
      if (lines[j].depth == lines[i].depth + 1) sum += (lines[j].*side).value_or(0);
    }
    INFO(lines[i].path);
    if (sum > 0) CHECK(sum == lines[i].*side);
  }
}

int64_t top_difference(const std::vector<ComparedLine>& lines) {
  int64_t sum = 0;
  for (const ComparedLine& line : lines)
    if (line.depth == 0) sum += line.difference();
  return sum;
}

}  // namespace

TEST_CASE("A plan compared with itself differs in nothing") {
  const Comparison comparison = compared("model=llama-3.1-8b&tokens=1e9", "model=llama-3.1-8b&tokens=1e9");
  CHECK(comparison.keys.empty());
  for (const ComparedFigure& figure : comparison.figures) CHECK(figure.difference() == 0.0);
  for (const ComparedLine& line : comparison.training) CHECK(line.difference() == 0);
  CHECK(comparison.training.size() > 5);
}

TEST_CASE("Keys that only follow from others are no differences") {
  const Comparison comparison = compared("gpus=64&tp=8&view=serve", "gpus=64&tp=4&units=gb");
  REQUIRE(comparison.keys.size() == 1);  // etp, sp, shard and global_batch follow
  CHECK(comparison.keys[0].key == Key::tp);
  CHECK(comparison.keys[0].here == "8");
  CHECK(comparison.keys[0].there == "4");
}

TEST_CASE("A key that one plan gives and the other has by default differs only where its value does") {
  CHECK(compared("gpus=8&zero=3&framework=deepspeed", "gpus=8&framework=deepspeed").keys.size() == 1);
  CHECK(compared("seq=4096", "").keys.empty());
}

TEST_CASE("Halving the weights' bits halves that line and no other of the states") {
  const Comparison comparison = compared("model=llama-2-7b&weights=fp8", "model=llama-2-7b");
  const auto weights = comparison.serving.front();
  CHECK(weights.path == "weights");
  CHECK(weights.here < weights.there);
  CHECK(weights.difference() < 0);
  const ComparedFigure* step = figure_of(comparison, "compute.step_seconds");
  REQUIRE(step != nullptr);
  CHECK(step->difference() == 0.0);
}

TEST_CASE("What one plan does not have stands empty on its side") {
  const Comparison comparison = compared("model=llama-2-7b&tokens=1e9", "model=llama-2-7b");
  const ComparedFigure* days = figure_of(comparison, "compute.days");
  REQUIRE(days != nullptr);
  CHECK(days->here.has_value());
  CHECK_FALSE(days->there.has_value());
  CHECK_FALSE(days->difference().has_value());
}

TEST_CASE("Differences of lines add up to the difference of the totals, on random plans") {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Report here = report(samples::random_share(seed)), there = report(samples::random_share(seed + 1000));
    if (!here.answered || !there.answered) continue;
    const Comparison comparison = compare(here, there);
    for (const auto* bill : {&comparison.training, &comparison.serving}) {
      check_sums(*bill, &ComparedLine::here);
      check_sums(*bill, &ComparedLine::there);
    }
    if (const ComparedFigure* device = figure_of(comparison, "training.device_bytes")) {
      CHECK(static_cast<double>(top_difference(comparison.training)) == *device->difference());
    }
  }
}

TEST_CASE("The report of a plan with vs holds the comparison in every face") {
  const Report both = report(with_vs("model=llama-2-7b&gpus=8", "model=llama-2-7b&gpus=8&recompute=full"));
  REQUIRE(both.other != nullptr);
  CHECK(both.other->other == nullptr);
  CHECK(both.share == "v=1&model=llama-2-7b&gpus=8");
  for (const std::string& face :
       {report_json(both), comparison_text(both), comparison_markdown(both), comparison_csv(both)}) {
    CHECK(face.find("recompute") != std::string::npos);
    CHECK(face.find("Activations") != std::string::npos);
  }
  CHECK(report_json(both).find("\"compare\":{\"vs_share\":\"v=1&model=llama-2-7b&gpus=8&recompute=full\"") !=
        std::string::npos);
  CHECK(report_json(report("model=llama-2-7b")).find("\"compare\"") == std::string::npos);
}

TEST_CASE("Faults of the plan compared with are said of vs") {
  const Report typo = report(with_vs("model=llama-2-7b", "model=llama-2-7b&tp=abc"));
  REQUIRE(typo.other != nullptr);
  CHECK(typo.messages.back().key == "vs");
  CHECK(typo.messages.back().text.starts_with("vs: tp: 'abc' is not"));
  const Report unknown = report(with_vs("model=llama-2-7b", "model=no-such-model"));
  CHECK(unknown.answered);
  CHECK(unknown.other == nullptr);
  CHECK(unknown.messages.back().text.starts_with("vs: model: "));
}

TEST_CASE("A plan compared with a plan that is itself compared ends there") {
  const std::string inner = with_vs("tp=2&gpus=2", with_vs("tp=4&gpus=4", "tp=8&gpus=8"));
  const Report outer = report(with_vs("gpus=1", inner));
  REQUIRE(outer.other != nullptr);
  CHECK(outer.other->plan.tp == 2);
  CHECK(outer.other->other == nullptr);
}

TEST_CASE("Differences are shown with their sign") {
  const Report here = report("model=llama-2-7b");
  CHECK(difference_text(here, FigureKind::bytes, 3435973837.0) == "+3.2 GiB");
  CHECK(difference_text(here, FigureKind::seconds, -14.1) == "−14.1 s");
  CHECK(difference_text(here, FigureKind::usd, 2.5) == "+2.50 USD");
  CHECK(difference_text(here, FigureKind::count, 0) == "0");
}

TEST_CASE("The comparison in a sentence: what is less is better, of what is counted more is") {
  const Report saves = report(with_vs("model=llama-2-7b&recompute=full", "model=llama-2-7b"));
  const ComparisonSentence training = comparison_sentence(saves, false);
  CHECK(training.direction == -1);
  CHECK(training.word.ends_with("GiB less a GPU"));
  CHECK(training.rest.find("more a step") != std::string::npos);
  CHECK(comparison_sentence(saves, true).direction == 0);
  CHECK_FALSE(compares_serving(saves));

  const Report serves = report(with_vs("model=llama-2-7b&kv=fp8", "model=llama-2-7b"));
  CHECK(compares_serving(serves));
  CHECK(comparison_sentence(serves, true).rest.find("requests at once") == std::string::npos);
  CHECK(comparison_sentence(serves, true).word.ends_with("more requests at once"));  // the pool stays, requests shrink
}

TEST_CASE("The comparison says where the verdicts part") {
  const Report both = report(with_vs("model=llama-2-7b&framework=fsdp&gpus=8&recompute=full", "model=llama-2-7b"));
  CHECK(comparison_sentence(both, false).rest.ends_with(". This plan fits, the other does not fit."));
}
