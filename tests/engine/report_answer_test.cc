#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/advice/plan_search.h"
#include "engine/plan/texts.h"
#include "engine/report/answer.h"
#include "engine/report/utf8.h"
#include "engine/units.h"

using namespace vram;

namespace {

struct Answered {
  Plan plan;
  Answer answer;
};

Answered answered(const std::string& share) {
  const PlanReading reading = read_plan(share);
  REQUIRE(reading.answerable);
  return {reading.plan, answer_question(reading.plan)};
}

std::string first_words(const std::string& share) {
  const Answered a = answered(share);
  const std::string sentence = answer_sentence(a.plan, a.answer);
  return sentence.substr(0, sentence.find(':'));
}

constexpr const char* kTwoKinds =
    "model=llama-3.1-8b&gpus=16&framework=fsdp&question=cheapest&gpus_among=h100-sxm5-80gb,a100-sxm4-80gb";
const char* const kPlans[] = {"model=llama-3.1-8b&gpus=8&tokens=1e9&global_batch=64", "model=llama-3.1-405b&gpus=8",
                              kTwoKinds, "model=llama-3.1-70b&question=replicas&qps=20",
                              "model=custom&params=7B&gpus=8"};

}  // namespace

TEST_CASE("The answer is one sentence that names what was asked") {
  struct Row {
    const char* share;
    const char* words;
  };
  const Row rows[] = {
      {"model=llama-3.1-8b&gpus=8", "Fastest"},
      {"model=llama-3.1-8b&question=fewest-gpus", "Fewest GPUs"},
      {"model=llama-3.1-8b&gpus=8&question=longest-seq", "Longest sequence"},
      {"model=llama-3.1-8b&gpus=8&question=largest-batch", "Largest micro-batch"},
      {"model=llama-3.1-8b&gpus=8&question=cheapest&tokens=1e9", "Cheapest"},
      {"model=llama-3.1-405b&gpus=8", "No layout fits"},
      {"model=llama-3.1-70b&gpus=64&tokens=1e12&deadline=30", "No layout keeps to the deadline of 30.0 days"},
      {"model=llama-3.1-70b&gpus=64&tokens=1e12&budget=1e6&deadline=30",
       "No layout keeps to the deadline of 30.0 days and the budget of 1,000,000 USD"},
      {"model=llama-3.1-70b&view=serve&question=cheapest&tpot=0.001", "No deployment keeps to 1.00 ms a token"},
      {"model=llama-3.1-405b&question=concurrency&serve_tp=2", "No deployment fits"},
      {"model=llama-3.1-8b&question=concurrency", "Most requests at a time"},
      {"model=llama-3.1-8b&question=context", "Longest prompt"},
      {"model=llama-3.1-8b&question=replicas", "Fewest GPUs"},
      {"model=llama-3.1-8b&question=cheapest&view=serve", "Cheapest"}};
  for (const Row& row : rows) {
    INFO(row.share);
    CHECK(first_words(row.share) == row.words);
  }
}

TEST_CASE("For people: rows within 80 columns") {
  for (const char* share : kPlans) {
    const Answered a = answered(share);
    const std::string text = answer_text(a.plan, a.answer, 10);
    for (const std::string_view line : split(text, '\n')) {
      INFO(line);
      CHECK(display_width(line) <= 80);
    }
  }
}

TEST_CASE("No more rows than are asked for, on every face") {
  const Answered a = answered(kPlans[0]);
  REQUIRE(a.answer.layouts.size() > 2);
  CHECK(row_table(a.plan, a.answer, 2).rows.size() == 2);
  const std::string csv = answer_csv(a.answer, 2);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 3);
  const std::string json = answer_json(a.answer, 1),
                    first = "\"share\":\"" + write_plan(a.answer.layouts[0].plan, false);
  CHECK(json.find(first) != std::string::npos);
  CHECK(json.find("\"share\":") == json.rfind("\"share\":"));
}

TEST_CASE("A table's MFU is in per cent") {
  const Answered a = answered(kPlans[0]);
  const TextTable table = row_table(a.plan, a.answer, 1);
  const auto mfu = std::find(table.heading.begin(), table.heading.end(), "MFU") - table.heading.begin();
  CHECK(table.rows[0].at(static_cast<size_t>(mfu)) == show_fixed(*a.answer.layouts[0].mfu * 100, 0) + "%");
}

TEST_CASE("What a switch costs in quality stands behind it, where it costs any") {
  const Answered a = answered(kPlans[0]);
  std::string text = answer_text(a.plan, a.answer, 1);
  CHECK(text.find("(quality: )") == std::string::npos);
  std::erase_if(text, [](char c) { return c == '\n' || c == ' '; });  // cells are wrapped
  CHECK(text.find("(quality:") != std::string::npos);
}

TEST_CASE("Every row of a table has a cell under every heading") {
  for (const char* share : kPlans) {
    const Answered a = answered(share);
    for (const TextTable& table : {row_table(a.plan, a.answer, 100), switch_table(a.plan, a.answer)}) {
      CHECK(table.alignment.size() == table.heading.size());
      for (const auto& row : table.rows) CHECK(row.size() == table.heading.size());
    }
  }
}

TEST_CASE("Several kinds of GPU are told apart, one kind is not repeated") {
  const auto names_gpu = [](const char* share) {
    const Answered a = answered(share);
    const auto heading = row_table(a.plan, a.answer, 10).heading;
    return std::find(heading.begin(), heading.end(), "GPU") != heading.end();
  };
  CHECK(names_gpu("model=llama-3.1-8b&gpus=8&gpus_among=h200-sxm-141gb,a100-sxm4-80gb"));
  CHECK_FALSE(names_gpu("model=llama-3.1-8b&gpus=8"));
}
