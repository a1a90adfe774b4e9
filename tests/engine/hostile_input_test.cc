#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/advice/launch.h"
#include "engine/advice/log/read_log.h"
#include "engine/model/config_json.h"
#include "engine/plan/percent.h"
#include "engine/report/report.h"

using namespace vram;

namespace {

const std::string kPlan = "model=llama-3.1-8b&gpus=8&tp=2&concurrency=4";

// Mark-up, terminal control, text that runs backwards, broken UTF-8, and what other readers take for code.
const std::string kHostile[] = {"<script>alert(1)</script>",
                                "<img src=x onerror=alert(1)>",
                                "\"><svg/onload=alert(1)>",
                                "javascript:alert(1)",
                                "](javascript:alert(1))",
                                "\x1b[31m\x1b]0;title\x07",
                                "\xe2\x80\xae"
                                "gnp.exe",
                                "\xc2\x9b"
                                "31m\xe2\x81\xa6",
                                "\xff\xfe\xc0\x80",
                                std::string("nul\0l", 5),
                                "=cmd|' /C calc'!A0",
                                "a\r\nSet-Cookie: b",
                                "%s%n%x"};

/// The figures of a report: all of it but what was said about the text, and the text itself.
nlohmann::json figures(const Report& report) {
  nlohmann::json json = nlohmann::json::parse(report_json(report));
  json.erase("messages");
  json.erase("share");
  return json;
}

bool steers_a_terminal(const std::string& text) {
  for (const char* sequence : {"\x1b", "\x07", "\r", "\x7f", "\xe2\x80\xae", "\xe2\x81\xa6", "\xc2\x9b"})
    if (text.find(sequence) != text.npos) return true;
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= 0 && c < ' ' && c != '\n'; });
}

/// Markdown and pictures pass no mark-up on, no face any control character; JSON escapes what it quotes.
void check_faces(const Report& report) {
  const std::string markdown = report_markdown(report), picture = report_svg(report), json = report_json(report);
  for (const std::string& face : {markdown, picture, json, report_text(report)}) CHECK_FALSE(steers_a_terminal(face));
  for (const char* tag : {"<script", "<img", "<svg/", "onload=alert(1)>"}) {
    CHECK(markdown.find(tag) == markdown.npos);
    CHECK(picture.find(tag) == picture.npos);
  }
  const size_t link = markdown.find("](javascript");
  CHECK((link == markdown.npos || markdown[link - 1] == '\\'));
  CHECK(nlohmann::json::accept(json));
}

}  // namespace

TEST_CASE("hostile keys and values of a link change nothing but the messages") {
  const nlohmann::json plain = figures(report(kPlan));
  for (const std::string& text : kHostile) {
    for (const std::string& pair :
         {percent_encode(text) + "=1", "note=" + percent_encode(text), "zero=" + percent_encode(text), "seq=" + text}) {
      if (pair.find('&') != pair.npos) continue;
      CAPTURE(pair);
      const Report with = report(kPlan + "&" + pair);
      CHECK_FALSE(with.messages.empty());
      CHECK(figures(with) == plain);
      check_faces(with);
    }
  }
}

TEST_CASE("a hostile model, gpu, comparison or architecture is a message") {
  for (const std::string& text : kHostile) {
    for (const char* key : {"model", "gpu", "vs", "arch", "pattern", "engine_version", "measured_with"}) {
      CAPTURE(key, text);
      const Report with = report("gpus=8&" + std::string(key) + "=" + percent_encode(text));
      check_faces(with);
    }
  }
}

TEST_CASE("of a megabyte of keys a hundred faults are named, the others counted, and every key is kept") {
  std::string link = kPlan;
  size_t keys = 0;
  for (; link.size() < size_t{1} << 20; ++keys) link += "&key_" + std::to_string(keys) + "=%3Cb%3E";
  const Report with = report(link);
  REQUIRE(with.messages.size() == 101);
  CHECK(with.messages[0].text == "key_0: no key of version 1; it is kept, not used");
  CHECK(with.messages[100].text.ends_with(" more faults of this text, not named one by one"));
  CHECK(with.plan.unknown.size() == keys);
  CHECK(figures(with) == figures(report(kPlan)));
  CHECK(report("seq=x&" + std::string(size_t{1} << 20, '&') + link).messages.size() == 101);
}

TEST_CASE("of a megabyte of one key the last value counts") {
  std::string link = "gpus=8";
  while (link.size() < size_t{1} << 20) link += "&tp=x&tp=2";
  const PlanReading reading = read_plan(link);
  CHECK(reading.plan.tp == 2);
  CHECK(reading.messages.size() == 101);
}

TEST_CASE("a megabyte in one value is cut where it is shown") {
  const Report with = report("model=" + std::string(size_t{1} << 20, '<'));
  CHECK_FALSE(with.answered);
  CHECK(report_json(with).size() < 25000);
  CHECK(report("arch=" + std::string(size_t{1} << 20, '[')).messages.size() == 1);
  std::string fields = "model=custom&arch={\"a\":1";
  for (int i = 0; i < 50000; ++i) fields += ",\"f" + std::to_string(i) + "\":1";
  CHECK(report(fields + "}").messages.size() < 200);
}

TEST_CASE("a config.json of megabytes, or nested without end, is refused with its size") {
  const std::string llama = R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":64,"x":)";
  const auto refused = [](const std::string& text) { return read_config(text).faults.at(0).text; };
  CHECK(refused(llama + "\"" + std::string(size_t{5} << 20, 'x') + "\"}") ==
        "5,242,963 bytes; a config.json of at most 4 MiB is read");
  CHECK(refused(llama + std::string(1000000, '[') + std::string(1000000, ']') + "}") ==
        "2,000,081 bytes of objects nested deeper than in any config.json");
  CHECK(refused(std::string(1000000, '{')) == "1,000,000 bytes of objects nested deeper than in any config.json");
}

TEST_CASE("a launch document nested without end is read calmly") {
  const Plan plan = read_plan("").plan;
  for (const char* bracket : {"[", "{\"a\":", "'", "\\", "$(", "((", "\"", "<<E\n"}) {
    std::string text = R"({"train_micro_batch_size_per_gpu":4,"x":)";
    while (text.size() < 500000) text += bracket;
    CHECK(read_launch(text, plan).messages.size() < 1000);
    CHECK(read_launch(text.substr(40), plan).messages.size() < 1000);
  }
}
