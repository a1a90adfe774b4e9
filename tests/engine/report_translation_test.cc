#include <catch2/catch_test_macros.hpp>

#include "engine/report/translation.h"

using vram::Translation;

namespace {

const Translation zh(
    "a comment\n"
    "Weights\t权重\n"
    "MLP\t前馈层\n"
    "layers\t层\n"
    "GPUs\t块 GPU\n"
    "Fits: {} of {} GiB\t放得下：{2} GiB 中占 {1}\n"
    "{} of {}\t{2} 之 {1}\n"
    "raise the global batch\t增大全局批量\n"
    "It takes {}\t需要 {}\n"
    "{}: no layers of {}\t{=1}：没有 {2} 的层\n"
    "no translation\t\n");

}  // namespace

TEST_CASE("a text of the table is translated whole, any other stays as it is") {
  CHECK(zh("Weights") == "权重");
  CHECK(zh("Weight") == "Weight");
  CHECK(zh("no translation") == "no translation");
  CHECK(zh("") == "");
  CHECK(Translation()("Weights") == "Weights");
}

TEST_CASE("holes take what stands in their place, in the order of the translation, themselves translated") {
  CHECK(zh("Fits: 40.2 of 79.6 GiB") == "放得下：79.6 GiB 中占 40.2");
  CHECK(zh("It takes Weights") == "需要 权重");
}

TEST_CASE("a hole with = stays as it stands") { CHECK(zh("layers: no layers of MLP") == "layers：没有 前馈层 的层"); }

TEST_CASE("of the patterns that match, the one that says most wins") {
  CHECK(zh("Fits: 1 of 2 GiB") == "放得下：2 GiB 中占 1");
  CHECK(zh("1 of 2") == "2 之 1");
}

TEST_CASE("a hole is never empty") {
  CHECK(zh("It takes ") == "It takes ");
  CHECK(zh("of 2") == "of 2");
}

TEST_CASE("the parts of a list are translated each, and so is a word beside a figure") {
  CHECK(zh("MLP 3.28 + Weights 0.70") == "前馈层 3.28 + 权重 0.70");
  CHECK(zh("64 GPUs") == "64 块 GPU");
  CHECK(zh("80 layers × 4,096 B") == "80 层 × 4,096 B");
  CHECK(zh("raise the global batch.") == "增大全局批量。");
}

TEST_CASE("what was translated is not translated again") { CHECK(zh("每层 GPUs 数") == "每层 GPUs 数"); }

TEST_CASE("a sentence inside another begins small") {
  CHECK(zh("it takes 5; raise the global batch") == "需要 5；增大全局批量");
}

TEST_CASE("a sentence does not reach into the next, and its rest is translated alone") {
  CHECK(zh("It takes 5. 1 of 2") == "需要 5。2 之 1");
  CHECK(zh(": It takes Weights") == "：需要 权重");
}

TEST_CASE("spaces around a text stay") { CHECK(zh(" Weights ") == " 权重 "); }

TEST_CASE("names and share strings stay") {
  for (const char* text : {"Llama 3.1 70B", "v=1&model=llama-3.1-70b", "bf16", "1.10", "2,048 + 512"})
    CHECK(zh(text) == text);
}

TEST_CASE("texts that nest for ever end") {
  const Translation loop("{} a\t{} a\nx {}\t{} x\n");
  CHECK(loop("x x x x x x x x x x x x a a a a a a a a a a").size() > 0);
}
