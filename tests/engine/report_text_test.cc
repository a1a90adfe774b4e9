#include <catch2/catch_test_macros.hpp>

#include "engine/report/figures.h"
#include "engine/report/report.h"
#include "engine/report/utf8.h"
#include "engine/report/wrap.h"
#include "engine/units.h"
#include "tests/engine/report_random_plans.h"

using namespace vram;

namespace {

size_t widest_row(const std::string& text) {
  size_t widest = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    widest = std::max(widest, display_width(std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
  }
  return widest;
}

using Rows = std::vector<std::string>;

}  // namespace

TEST_CASE("the text report keeps to 80 columns") {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const std::string share = RandomPlan(seed).share();
    CAPTURE(share);
    CHECK(widest_row(report_text(report(share))) <= 80);
  }
}

TEST_CASE("a bill is a tree: branches beside a line's name, and below it to its last factor") {
  const std::string text = report_text(report("model=llama-3.1-70b&gpus=64&tp=8&pp=4&seq=8192"));
  CHECK(text.find(R"(
├ Attention                 20 layers                                       0.70
│                           × 150994944 parameters a layer
│                           × 2 bytes a weight
│                           ÷ 8 ranks of the model
├ Norms and biases          335872 parameters × 2 bytes a weight          < 0.01
)") != std::string::npos);
  CHECK(text.find(R"(
└ Head                      1050673152 parameters                           0.24
                            × 2 bytes a weight
)") != std::string::npos);
}

TEST_CASE("along a step every stage has a row without gaps, up to what the bill says it allocates") {
  const Report result = report("model=llama-2-7b&gpus=4&pp=4&global_batch=8");
  const std::string text = timeline_text(result);
  for (const StageBill& stage : result.training.stages) {
    const size_t begin = text.find("  stage    " + std::to_string(stage.stage) + "  ") + 14;
    const std::string row = text.substr(begin, text.find('\n', begin) - begin);
    const std::string bars = row.substr(0, row.find(' '));
    CHECK(display_width(bars) == 48);
    CHECK(row.substr(bars.size()) == "  " + show_bytes(static_cast<double>(stage.allocated_bytes)));
    CHECK_FALSE(bars.starts_with("█"));  // before the first layer, and after the last, activations are not there
    CHECK((bars.find("█") != std::string::npos) == (stage.stage == 0));  // 1F1B keeps most on the first stage
  }
}

TEST_CASE("it begins with three sentences: training, compute, serving") {
  const Report result = report("model=llama-2-7b&framework=ddp");
  const std::vector<std::string> sentences = headline_sentences(result);
  REQUIRE(sentences.size() == 3);
  CHECK(sentences[0].rfind("Does not fit: ", 0) == 0);
  CHECK(sentences[1].find("GFLOPs a token") != std::string::npos);
  CHECK(sentences[2].rfind("Serves 1 request of 2,560 tokens: ", 0) == 0);
  const std::string text = report_text(result);
  CHECK(text.find("\nTraining  Does not fit: ") < text.find("\nCompute   "));
  CHECK(text.find("\nCompute   ") < text.find("\nServing   "));
}

TEST_CASE("the bill that the view shows comes first") {
  const std::string train = report_text(report("model=llama-2-7b"));
  const std::string serve = report_text(report("model=llama-2-7b&view=serve"));
  CHECK(train.find("\nTRAINING") < train.find("\nSERVING"));
  CHECK(serve.find("\nSERVING") < serve.find("\nTRAINING"));
}

TEST_CASE("amounts follow the units that the plan asks for") {
  const std::string share = "model=custom&params=70e9&framework=deepspeed&precision=fp16";
  CHECK(report_text(report(share)).find(" 130.39\n") != std::string::npos);  // 140e9 / 2^30
  CHECK(report_text(report(share + "&units=gb")).find(" 140.00\n") != std::string::npos);
}

TEST_CASE("a plan without a known model or GPU has nothing but messages") {
  for (const char* share : {"model=no-such-model", "gpu=no-such-gpu"}) {
    const Report result = report(share);
    CHECK_FALSE(result.answered);
    REQUIRE_FALSE(result.messages.empty());
    CHECK(report_json(result).rfind("{\"messages\":[{\"key\":", 0) == 0);
    CHECK(headline_sentences(result).empty());
  }
}

TEST_CASE("an impossible plan says why, and keeps its napkin") {
  const Report result = report("model=llama-2-7b&gpus=7&tp=2");
  CHECK(result.training.verdict == Verdict::invalid);
  CHECK(headline_sentences(result)[0].rfind("Impossible as planned: ", 0) == 0);
  const std::string json = report_json(result);
  CHECK(json.find("\"training\":{\"verdict\":\"invalid\",\"napkin\":{\"states_bytes\":") != std::string::npos);
}

TEST_CASE("a bill above 2^53 bytes is refused by the name of its line") {
  // 1e15 parameters x 12 B of optimizer states
  const Report result = report("model=custom&params=1e15");
  CHECK(result.training.verdict == Verdict::invalid);
  REQUIRE_FALSE(result.training.faults.empty());
  CHECK(result.training.faults[0].text.find("above 2^53 bytes") != std::string::npos);
  CHECK_FALSE(result.training.napkin.states_bytes);
}

TEST_CASE("a bill above 2^53 bytes names the key that makes it so") {
  const auto blamed = [](const char* share) {
    const Report result = report(share);
    CHECK(result.training.verdict == Verdict::invalid);
    REQUIRE_FALSE(result.training.faults.empty());
    const Message& fault = result.training.faults[0];
    CHECK(fault.text.rfind(fault.key + ": training: '", 0) == 0);
    return fault.key + "=" + fault.given;
  };
  CHECK(blamed("model=custom&params=1e15") == "params=1000000000000000");
  CHECK(blamed("model=llama-3.1-8b&gpus=8&seq=1e9&micro_batch=10000") == "seq=1000000000");
  CHECK(blamed("model=llama-3.1-8b&gpus=8&micro_batch=1e6&seq=65536&recompute=full") == "micro_batch=1000000");
  const Report serving = report("model=llama-3.1-70b&engine=llamacpp&concurrency=1e7&prompt=1e6");
  REQUIRE_FALSE(serving.serving.faults.empty());
  CHECK(serving.serving.faults[0].key == "concurrency");
}

TEST_CASE("work is told in the unit that fits") {
  CHECK(flops_text(46.14e9) == "46.1 GFLOPs");
  CHECK(flops_text(1.718e15) == "1.72 PFLOPs");
  CHECK(flops_text(8.4e23) == "8.40e23 FLOPs");
}

TEST_CASE("an impossible plan has no steps to time") {
  const Report result = report("model=llama-2-7b&gpus=7&tp=2");
  CHECK(result.compute.flops_per_token);
  CHECK_FALSE(result.compute.step_seconds);
  CHECK(result.compute.traffic.empty());
}

TEST_CASE("widths of a terminal") {
  CHECK(display_width("80 GB") == 5);
  CHECK(display_width("2 × 3 ÷ 4") == 9);
  CHECK(display_width("模型") == 4);
  CHECK(display_width("e\xcc\x81") == 1);  // a combining accent
  CHECK(display_width("\xff\xfe") == 2);   // no UTF-8: a column each
}

TEST_CASE("rows are broken at spaces, formulas before their signs, share strings before &") {
  CHECK(wrap("one two three", 7) == Rows{"one two", "three"});
  CHECK(wrap("abcdefgh", 3) == Rows{"abc", "def", "gh"});
  CHECK(wrap("", 9) == Rows{""});
  CHECK(wrap_formula("32 layers × 4096 tokens ÷ 8 tensor parallel", 24) ==
        Rows{"32 layers × 4096 tokens", "÷ 8 tensor parallel"});
  CHECK(wrap_formula("1 very long meaning × 2", 9) == Rows{"1 very", "long", "meaning", "× 2"});
  CHECK(wrap_share("v=1&model=a&tp=8", 12) == Rows{"v=1&model=a", "&tp=8"});
}
