#include <catch2/catch_test_macros.hpp>

#include "engine/report/bars.h"
#include "engine/report/report.h"

using namespace vram;

namespace {

size_t count(std::string_view text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) found++;
  return found;
}

bool holds(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("stages that hold the same share a bar, and a row") {
  const Report plan = report("model=llama-3.1-70b&gpus=64&tp=8&pp=4");
  CHECK(holds(report_text(plan), "\nStage 0, 20 layers "));
  CHECK(holds(report_text(plan), "\nStages 1–2, 20 layers "));
  const std::vector<Bar> bars = training_bars(plan.training);
  REQUIRE(bars.size() == 3);
  CHECK(bars[0].label == "Stage 0");
  CHECK(bars[1].label == "Stages 1–2");
  CHECK(bars[2].label == "Stage 3");
}

TEST_CASE("the picture holds the sentence, a bar a stage, and an amount a line of the bill") {
  const Report plan = report("model=llama-3.1-70b&gpus=64&tp=8&pp=4");
  const std::string svg = report_svg(plan);
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(holds(svg, "Fits: "));
  CHECK(holds(svg, ">Stages 1–2</text>"));
  CHECK(holds(svg, ">Optimizer</text>"));
  CHECK(holds(svg, "<desc>v=1&amp;model=llama-3.1-70b&amp;gpus=64&amp;tp=8&amp;pp=4</desc>"));
}

TEST_CASE("a line has the same colour in the bars and in the bill, in both bills' pictures") {
  const std::string svg = report_svg(report("model=llama-3.1-8b&gpus=8"));
  CHECK(count(svg, "fill=\"#009e73\"") == 2);  // optimizer: bar and swatch
  const std::string serving = report_svg(report("model=llama-3.1-8b&view=serve"));
  CHECK(count(serving, "fill=\"#e69f00\"") == 2);  // KV cache
  CHECK(holds(serving, "Serves 1 request"));
}

TEST_CASE("the picture follows the reader's scheme unless the plan names one") {
  CHECK(holds(report_svg(report("model=llama-3.1-8b")), "prefers-color-scheme:dark"));
  CHECK_FALSE(holds(report_svg(report("model=llama-3.1-8b&theme=dark")), "prefers-color-scheme"));
  CHECK(holds(report_svg(report("model=llama-3.1-8b&theme=dark")), "#14161a"));
}

TEST_CASE("a plan without a bill says why") {
  CHECK(holds(report_svg(report("model=no-such-model")), "no-such-model"));
  CHECK(holds(report_svg(report("model=llama-3.1-8b&gpus=3&tp=2")), "Impossible as planned"));
}

TEST_CASE("nothing from a link becomes mark-up") {
  const std::string svg = report_svg(report("model=%3Cscript%3Ealert(1)%3C/script%3E&x=%22%3E%3Cimg"));
  CHECK_FALSE(holds(svg, "<script"));
  CHECK_FALSE(holds(svg, "<img"));
}
