#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "engine/advice/diagnose/diagnose.h"
#include "engine/advice/log/read_log.h"
#include "engine/plan/plan.h"

using namespace vram;
using nlohmann::json;

namespace {

/// Of all files of messages.
json messages() {
  json all = json::array();
  for (const char* name : {"messages.json", "messages_fresh.json", "messages_serving.json", "formats.json"}) {
    std::ifstream file(std::string(VRAM_SOURCE_DIR "/tests/cases/logs/") + name);
    std::stringstream content;
    content << file.rdbuf();
    const json read = json::parse(content.str());
    for (const json& message : read["messages"]) all.push_back(message);
  }
  return all;
}

/// A figure that is expected: its name, its value, and the device where several have it.
struct Expected {
  std::string what, on;
  json value;
};

void flatten(const std::string& what, const json& value, const std::string& on, std::vector<Expected>& out) {
  if (value.is_array()) {
    for (const json& one : value) flatten(what, one, on, out);
  } else if (value.is_object()) {
    for (const auto& [device, one] : value.items()) flatten(what, one, device, out);
  } else {
    out.push_back({what, on, value});
  }
}

/// Sizes are printed rounded: a byte apart is the same figure.
bool same(const LogFigure& figure, const Expected& expected) {
  if (figure.what != expected.what || (!expected.on.empty() && figure.on != expected.on)) return false;
  if (expected.value.is_string()) return figure.text == expected.value.get<std::string>();
  if (figure.kind == CaptureKind::bytes) return std::llabs(figure.bytes - expected.value.get<int64_t>()) <= 1;
  return figure.kind == CaptureKind::number && std::fabs(figure.number - expected.value.get<double>()) < 1e-9;
}

struct Tally {
  size_t expected = 0, read = 0, wrong = 0;
  std::string faults;
};

void judge(const json& message, Tally& tally) {
  const LogReading reading = read_log(message["text"].get<std::string>());
  std::vector<Expected> expected;
  for (const auto& [what, value] : message["read"].items()) flatten(what, value, "", expected);
  const std::string id = message["id"].get<std::string>();
  for (const Expected& one : expected) {
    ++tally.expected;
    const bool found = std::any_of(reading.figures.begin(), reading.figures.end(),
                                   [&](const LogFigure& figure) { return same(figure, one); });
    tally.read += found;
    if (!found) tally.faults += id + ": " + one.what + " " + one.value.dump() + " not read\n";
  }
  for (const LogFigure& figure : reading.figures) {
    const auto is_named = [&](const Expected& one) { return one.what == figure.what; };
    if (std::none_of(expected.begin(), expected.end(), is_named)) continue;
    if (std::any_of(expected.begin(), expected.end(), [&](const Expected& one) { return same(figure, one); })) continue;
    ++tally.wrong;
    tally.faults += id + ": " + figure.what + " read as " + figure.printed + "\n";
  }
  for (const json& what : message.value("unread", json::array())) {
    const bool named = std::any_of(reading.gaps.begin(), reading.gaps.end(),
                                   [&](const LogGap& gap) { return gap.what == what.get<std::string>(); });
    tally.wrong += !named;
    if (!named) tally.faults += id + ": " + what.dump() + " is not named as unreadable\n";
  }
}

}  // namespace

TEST_CASE("Of the figures of real messages at least 98 in 100 are read, and none is read wrong") {
  Tally tally;
  const json all = messages();
  REQUIRE(all.size() >= 1000);
  for (const json& message : all) judge(message, tally);
  INFO(tally.faults);
  CAPTURE(tally.read, tally.expected);
  CHECK(static_cast<double>(tally.read) >= 0.98 * static_cast<double>(tally.expected));
  CHECK(tally.wrong == 0);
}

// A number at the very end may have been cut in the middle; behind a size its unit tells.
TEST_CASE("A message cut off anywhere gives no other sizes than the whole") {
  constexpr size_t kStride = 31;  // another character of it in each message, the same in every run
  for (const json& message : messages()) {
    const std::string text = message["text"].get<std::string>();
    const LogReading whole = read_log(text);
    for (size_t length = text.size() % kStride; length < text.size(); length += kStride) {
      for (const LogFigure& figure : read_log(text.substr(0, length)).figures) {
        const std::string_view printed = figure.printed;
        if (figure.derived || printed.empty() || !std::isalpha(static_cast<unsigned char>(printed.back()))) continue;
        if (figure.kind != CaptureKind::bytes) continue;
        const bool known = std::any_of(whole.figures.begin(), whole.figures.end(), [&](const LogFigure& other) {
          return other.bytes == figure.bytes && other.kind == figure.kind;
        });
        CAPTURE(message["id"].dump(), length, figure.what, figure.printed);
        CHECK(known);
      }
    }
  }
}

TEST_CASE("A log that says everything three times says nothing else") {
  const auto said = [](const std::string& text) {
    std::set<std::string> figures;
    for (const LogFigure& figure : read_log(text).figures) {
      if (figure.derived) continue;
      figures.insert(figure.what + " " + figure.on + " " + std::to_string(figure.bytes) + " " + figure.printed);
    }
    return figures;
  };
  for (const json& message : messages()) {
    const std::string text = message["text"].get<std::string>() + "\n";
    CAPTURE(message["id"].dump());
    CHECK(said(text + text + text) == said(text));
  }
}

// With and without a plan; whole, and cut off in the middle.
TEST_CASE("Every message has an answer in words, without a figure that is none") {
  const Plan named = read_plan("model=llama-3.1-8b&gpus=8&framework=fsdp").plan;
  for (const json& message : messages()) {
    const std::string text = message["text"].get<std::string>();
    for (const Plan& plan : {named, read_plan("").plan}) {
      for (const std::string& log : {text, text.substr(0, text.size() / 2)}) {
        CAPTURE(message["id"].dump(), log);
        const Diagnosis diagnosis = diagnose(plan, log);
        CHECK_FALSE(diagnosis.findings.empty());
        for (const Finding& finding : diagnosis.findings) {
          CAPTURE(finding.text);
          CHECK(finding.text.find("nan") == std::string::npos);
          CHECK(finding.text.find("inf ") == std::string::npos);
          CHECK(finding.text.find("  ") == std::string::npos);
          CHECK(finding.text.back() == '.');
        }
      }
    }
  }
}
