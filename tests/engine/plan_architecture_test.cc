#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/model/config_json.h"
#include "engine/plan/plan.h"
#include "engine/preset_table.h"

using namespace vram;

namespace {

/// The architecture a plan's model was built from.
const Architecture& billed(const Plan& plan) { return plan.subject->architecture; }

}  // namespace

TEST_CASE("every preset is a model without faults, under its id") {
  for (const PresetRow& row : model_presets()) {
    CAPTURE(row.id);
    const PlanReading reading = read_plan("model=" + std::string(row.id));
    CHECK(reading.answerable);
    for (const Message& message : reading.messages) CHECK(message.text.empty());
    REQUIRE(reading.plan.subject != nullptr);
    CHECK(reading.plan.subject->id == row.id);
    CHECK(reading.plan.subject->name == row.name);
    CHECK(reading.plan.params == reading.plan.subject->exact_parameters);
  }
}

TEST_CASE("the share string of an imported architecture gives the same architecture again") {
  for (const PresetRow& row : model_presets()) {
    CAPTURE(row.id);
    const Architecture architecture = read_config(row.json).architecture;
    const Plan plan = plan_of_architecture(architecture);
    const std::string share = write_plan(plan, true);
    CAPTURE(share);
    CHECK(billed(plan) == architecture);
    const PlanReading again = read_plan(share);
    for (const Message& message : again.messages) CHECK(message.text.empty());
    CHECK(billed(again.plan) == architecture);
    CHECK(write_plan(again.plan, true) == share);
    CHECK(again.plan.subject->exact_parameters == plan.subject->exact_parameters);
  }
}

TEST_CASE("an imported architecture leaves no other key behind") {
  const PresetRow row = model_presets().front();
  const Plan plan = plan_of_architecture(read_config(row.json).architecture);
  CHECK_FALSE(plan.has(Key::params));
  CHECK_FALSE(plan.has(Key::gpu));
  CHECK(plan.model == "custom");
}

TEST_CASE("imported fields that are no JSON are left out, with a message") {
  const PlanReading reading = read_plan("model=custom&params=7e9&arch=%7B%22hidden_act");
  CHECK_FALSE(reading.plan.has(Key::arch));
  CHECK(reading.messages.at(0).text.starts_with("arch: '{\"hidden_act' is not JSON of config.json fields"));
}
