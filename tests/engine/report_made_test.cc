#include <catch2/catch_test_macros.hpp>

#include "engine/plan/made.h"
#include "engine/report/made.h"
#include "engine/report/report.h"
#include "engine/units.h"
#include "tests/engine/plan_samples.h"

using namespace vram;

namespace {

constexpr const char* kShare = "v=1&model=llama-2-7b&gpus=8";

/// The share string that a page gives, with one of its figures replaced.
std::string given(std::string_view share, size_t part = 9, std::string_view replaced_by = "") {
  const std::string made = made_here(report(share));
  std::string text;
  size_t start = 0;
  for (size_t i = 0; start <= made.size(); ++i) {
    const size_t end = std::min(made.find(',', start), made.size());
    text.append(i > 0 ? "," : "").append(i == part ? replaced_by : std::string_view(made).substr(start, end - start));
    start = end + 1;
  }
  return std::string(share) + "&made=" + text;
}

std::string said(const Report& report) {
  for (const Message& message : report.messages)
    if (message.key == "made") return message.text;
  return "";
}

}  // namespace

TEST_CASE("a link that is given away says its engine's version and figures", "[made]") {
  const Report here = report(kShare);
  CHECK(made_here(here).starts_with(std::string(kEngineVersion) + ","));
  CHECK(share_to_give(here) == given(kShare));
  CHECK(report(share_to_give(here)).share == kShare);
  CHECK(share_to_give(report("model=nobody")) == "v=1&model=nobody");
}

TEST_CASE("a link says as many requests as fit, in tenths, and never more", "[made]") {
  const Report here = report(kShare);
  const double fit = *here.serving.max_concurrency, said = *read_made(made_here(here))->requests;
  CHECK(said <= fit);
  CHECK(said > fit - 0.1);
}

TEST_CASE("of a plan with no bill a link has an empty figure", "[made]") {
  const std::string made = made_here(report("gpus=8&tp=3"));
  CHECK(made.find(",,") != std::string::npos);
  CHECK(said(report("gpus=8&tp=3&made=" + made)).empty());
}

TEST_CASE("a link of this engine has nothing to say, and is written as it was read", "[made]") {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const std::string share = write_plan(read_plan(samples::random_share(seed)).plan, false);
    CAPTURE(share);
    const Report here = report(share);
    const std::string link = share_to_give(here);
    CHECK(share_to_give(report(link)) == link);
    CHECK(write_plan(read_plan(link).plan, true) == link);
    CHECK(said(report(link)).empty());
  }
}

TEST_CASE("where this engine says something else, a link says what it said", "[made]") {
  const Report here = report(given(kShare, 1, "70.0"));
  CHECK(said(here).starts_with("This link was made with version 0.1.0, which said 70.0 GiB a GPU; this version says "));
  CHECK(said(here).ends_with(" GiB (see the changelog)."));
  CHECK(said(report(given(kShare, 2, "12"))).find("which said 12 requests at a time; this version says ") !=
        std::string::npos);
  CHECK(said(report(given("v=1&model=llama-2-7b&gpus=8&units=gb", 1, "70.0"))).find("which said 75.2 GB a GPU") !=
        std::string::npos);
  CHECK(here.share == kShare);
}

TEST_CASE("figures of both bills that changed are one sentence", "[made]") {
  const Report here = report(kShare);
  const std::string mark = made_here(here).substr(made_here(here).size() - 4);
  const std::string text = said(report(std::string(kShare) + "&made=0.0.9,70.0,12.5," + mark));
  CHECK(text.find("version 0.0.9, which said 70.0 GiB a GPU and 12.5 requests at a time; this") != std::string::npos);
}

TEST_CASE("half a digit of rounding is no change", "[made]") {
  const double gib = static_cast<double>(report(kShare).training.device_bytes) / kGiB;
  CHECK(said(report(given(kShare, 1, show_fixed(gib + 0.1, 1)))).empty());
  CHECK_FALSE(said(report(given(kShare, 1, show_fixed(gib + 0.3, 1)))).empty());
}

TEST_CASE("figures of another plan are none of this one: a link may be edited by hand", "[made]") {
  const std::string link = given(kShare, 1, "70.0");
  CHECK(said(report(link + "&tp=2")).empty());
  CHECK_FALSE(said(report(link + "&theme=dark&view=serve")).empty());
}

TEST_CASE("what is no such text is answered like any unusable value", "[made]") {
  for (const char* bad : {"1", "0.1.0,71.5", "0.1.0,x,1,9f2c", "0.1.0,-1,1,9f2c", "0.1.0,1,1,9f2", "0.1.0,1,1,9F2C",
                          ",1,1,9f2c", "0.1.0,1,1,9f2c,", "0 1,1,1,9f2c", "0.1.0,nan,1,9f2c"}) {
    CAPTURE(bad);
    const Report here = report(std::string(kShare) + "&made=" + bad);
    CHECK(here.answered);
    CHECK(said(here).find("is not what the page writes, as in 0.1.0,71.5,45.3,9f2c; it is left out") !=
          std::string::npos);
  }
}
