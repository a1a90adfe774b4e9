#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/report/report.h"
#include "tests/engine/plan_samples.h"
#include "tests/engine/printed_formula.h"
#include "tests/engine/report_random_plans.h"

using namespace vram;

namespace {

/// What of a line's text is wrong; "" where it evaluates to its bytes.
std::string wrong(const Line& line) {
  const std::string text = formula(line);
  const auto read = PrintedFormula::read(text);
  const std::string fault = !read                                             ? "is no product"
                            : read->divides_by_zero()                         ? "divides by nothing"
                            : line.too_large && read->exceeds(line.bytes - 1) ? ""
                            : !line.too_large && read->comes_to(line.bytes)   ? ""
                                                                              : "is not the bytes";
  return fault.empty() ? "" : std::string(line.id) + ": " + text + " " + fault + ", " + std::to_string(line.bytes);
}

void check_formulas(Lines lines, size_t& seen) {
  for (const Line& line : lines) {
    if (!line.children.empty()) {
      CHECK(formula(line).empty());
      check_formulas(line.children, seen);
    } else if (line.factors.empty()) {
      CHECK(line.bytes == 0);  // a line of the contract that this plan has nothing of
    } else {
      CHECK(wrong(line) == "");
      ++seen;
    }
  }
}

/// All lines of all bills, fully opened.
size_t check_report(const Report& report) {
  size_t seen = 0;
  check_formulas(report.training.lines, seen);
  for (const Phase& phase : report.training.phases) check_formulas(phase.lines, seen);
  Sheet sheet;
  for (size_t stage = 0; stage < report.training.stages.size(); ++stage)
    check_formulas(stage_lines(sheet, report.plan, stage), seen);
  for (const Traffic& traffic : report.compute.traffic) check_formulas({&traffic.line, 1}, seen);
  check_formulas(report.serving.lines, seen);
  check_formulas(report.serving.request_lines, seen);
  check_formulas(report.serving.host_lines, seen);
  return seen;
}

}  // namespace

TEST_CASE("the pencil reads a printed formula") {
  const auto bytes = [](const char* text, uint64_t count) { return PrintedFormula::read(text)->comes_to(count); };
  CHECK(bytes("80 layers × 4096 tokens × 0.5 B ÷ 8 tensor parallel", 20480));
  CHECK(bytes("10 ÷ 3", 4));
  CHECK(bytes("12 ÷ 3", 4));
  CHECK(bytes("0 tokens × 3.25", 0));
  CHECK(bytes("100 ÷ 0.7", 143));
  CHECK(bytes("1.5e-8 × 200000000", 3));
  CHECK(bytes("3000000000.000000001", 3000000001));
  CHECK_FALSE(bytes("12 ÷ 3", 5));
  CHECK_FALSE(bytes("13 ÷ 3", 4));
  CHECK(PrintedFormula::read("9007199254740993 × 1000000000 × 1000000000 ÷ 1000000000 ÷ 1000000000")
            ->comes_to(9007199254740993u));
  CHECK(PrintedFormula::read("1 ÷ 0")->divides_by_zero());
  for (const char* text : {"", "layers", "-3", "1e9", "e-2", "nan", "inf B", "2 × ", ".5", "1.2.3"}) {
    CAPTURE(text);
    CHECK_FALSE(PrintedFormula::read(text));
  }
}

namespace {

/// Plans that could be somebody's, and plans whose keys have any value in their range.
size_t check_plans(uint32_t count) {
  size_t seen = 0;
  for (uint32_t seed = 0; seed < count; ++seed) {
    for (const std::string& share : {RandomPlan(seed).share(), samples::random_share(seed)}) {
      CAPTURE(seed, share);
      seen += check_report(report(share));
    }
  }
  return seen;
}

}  // namespace

TEST_CASE("every line's printed formula evaluates to its bytes, over random plans of every architecture") {
  CHECK(check_plans(400) > 40000);
}

TEST_CASE("every line's printed formula evaluates to its bytes, over tens of thousands of random plans", "[.long]") {
  CHECK(check_plans(20000) > 2000000);
}
