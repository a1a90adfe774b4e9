#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <set>

#include "engine/plan/percent.h"
#include "engine/plan/plan.h"
#include "tests/engine/plan_samples.h"

using namespace vram;

namespace {

const Message* message_about(const PlanReading& reading, std::string_view key) {
  for (const Message& message : reading.messages) {
    if (message.key == key) return &message;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("the field table has every key of version 1, once, described") {
  std::set<std::string_view> names;
  for (const Field& row : fields()) {
    CAPTURE(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(field(row.key).name == row.name);
    CHECK(find_field(row.name) == &row);
    CHECK_FALSE(row.label.empty());
    CHECK_FALSE(row.section.empty());
    CHECK(help_of(row).ends_with("."));
    CHECK((row.kind == FieldKind::choice) == !row.words.empty());
    CHECK(row.least <= row.most);
  }
  CHECK(names.size() == kKeyCount);
  CHECK(find_field("v") == nullptr);
  CHECK(find_field("gpus ") == nullptr);
}

TEST_CASE("keys stand in the order of the contract's table") {
  CHECK(fields().front().name == "model");
  CHECK(fields().back().name == "made");
  const std::string_view order[] = {
      "model",  "arch",    "gpu",    "margin", "method",          "tp",  "zero", "seq", "tokens", "pue",
      "engine", "weights", "prompt", "derate", "measured_device", "view"};
  for (size_t i = 1; i < std::size(order); ++i) CHECK(find_field(order[i - 1])->key < find_field(order[i])->key);
}

TEST_CASE("every key takes a good value, without a message") {
  for (const Field& row : fields()) {
    for (uint64_t pick = 0; pick < 7; ++pick) {
      const std::string share = "model=custom&params=7e9&" + std::string(row.name) + "=" +
                                percent_encode(samples::good_value(row, pick * 7 + 1));
      CAPTURE(share);
      const PlanReading reading = read_plan(share);
      for (const Message& message : reading.messages) {
        INFO(message.text);
        CHECK(message.text.find(" is not a") == std::string::npos);
        CHECK(message.text.find(" is not one of") == std::string::npos);
      }
      CHECK(reading.plan.unknown.empty());
    }
  }
}

TEST_CASE("every key answers an unusable value with its name, the value and what it takes") {
  const char* bad = GENERATE("x'y", "-1", "1e999", "nan", "");
  for (const Field& row : fields()) {
    const bool takes_it = row.kind == FieldKind::text && (std::string_view(bad).empty() || row.key == Key::model ||
                                                          row.key == Key::gpu || row.key == Key::vs);
    const bool version = row.key == Key::engine_version && std::string_view(bad) == "1e999";
    if (takes_it || version) continue;
    CAPTURE(row.name, bad);
    const PlanReading reading = read_plan(std::string(row.name) + "=" + bad);
    const Message* message = message_about(reading, row.name);
    REQUIRE(message != nullptr);
    CHECK(message->given == bad);
    CHECK(message->text.starts_with(std::string(row.name) + ": '" + bad + "' is not "));
    CHECK_FALSE(reading.plan.has(row.key));
    CHECK(value_text(reading.plan, row.key) == value_text(read_plan("").plan, row.key));
  }
}

TEST_CASE("an engine's version begins with a number, as releases, builds and months do") {
  for (const char* version : {"0.9.1", "v0.11.0", "0.6.5-dev", "b9849", "2026-03", "0.29.1rc1.dev17+gd2d649e67"}) {
    CHECK(read_plan("engine_version=" + std::string(version)).plan.engine_version == version);
  }
  const PlanReading reading = read_plan("engine_version=zzz");
  REQUIRE(reading.messages.size() == 1);
  CHECK(reading.messages[0].text ==
        "engine_version: 'zzz' is not a version such as 0.9.1, a build such as b9849, or a month such as 2026-03; "
        "it is left out");
  CHECK(reading.plan.engine_version.empty());
}

TEST_CASE("a number outside the range of its key is unusable") {
  for (const Field& row : fields()) {
    if (row.most <= row.least) continue;
    CAPTURE(row.name);
    const PlanReading reading = read_plan(std::string(row.name) + "=" + write_number(row.most * 2 + 1));
    CHECK(message_about(reading, row.name) != nullptr);
    CHECK_FALSE(reading.plan.has(row.key));
  }
}

TEST_CASE("counts are whole") {
  CHECK(read_plan("tp=1.5").messages.at(0).text == "tp: '1.5' is not a whole number from 1 to 65536; 1 is used");
  CHECK(read_plan("tp=0").messages.at(0).text == "tp: '0' is not a whole number from 1 to 65536; 1 is used");
}

TEST_CASE("the words of choices are spelled as in the contract") {
  for (const char* pair : {"schedule=1f1b", "flops=6n", "precision=bf16-pure", "precision=fp16-pure",
                           "lora_targets=all+head", "question=fewest-gpus", "allocator=default", "engine=static",
                           "theme=auto", "base=nf4", "weights=q4_k_m", "kv=q8_0"}) {
    CAPTURE(pair);
    for (const Message& message : read_plan(pair).messages) CHECK(message.text.find("is not") == std::string::npos);
  }
  CHECK(read_plan("precision=bf16_pure").messages.at(0).text ==
        "precision: 'bf16_pure' is not one of bf16, bf16-pure, fp16, fp16-pure, fp32, fp8, mxfp8, nvfp4; bf16 is used");
}

TEST_CASE("a key whose feature is not built yet is kept and says so, when given") {
  for (const Field& row : fields()) {
    const bool number = row.kind != FieldKind::choice && row.kind != FieldKind::text && row.kind != FieldKind::flag;
    if (row.built.empty() || !number) continue;
    const std::string pair = std::string(row.name) + "=4";
    CAPTURE(pair);
    CHECK(message_about(read_plan(""), row.name) == nullptr);
    const PlanReading reading = read_plan(pair);
    REQUIRE(message_about(reading, row.name) != nullptr);
    CHECK(message_about(reading, row.name)->text.starts_with(std::string(row.name) + ": kept, but "));
    CHECK(write_plan(reading.plan, true) == "v=1&" + pair);
  }
}
