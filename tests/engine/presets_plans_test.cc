#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/plan/plan.h"
#include "engine/preset_table.h"

using namespace vram;

namespace {

/// The share string of a worked example: presets/plans/*.json have one, without escapes.
std::string share_of(const PresetRow& row) {
  const std::string json(row.json), key = "\"share\": \"";
  const size_t begin = json.find(key);
  REQUIRE(begin != std::string::npos);
  return json.substr(begin + key.size(), json.find('"', begin + key.size()) - begin - key.size());
}

}  // namespace

TEST_CASE("Every worked example is a canonical share string that is answered") {
  CHECK(plan_presets().size() >= 16);
  for (const PresetRow& row : plan_presets()) {
    INFO(row.id);
    const std::string share = share_of(row);
    const PlanReading reading = read_plan(share);
    REQUIRE(reading.answerable);
    CHECK(write_plan(reading.plan, true) == share);
    for (const Message& message : reading.messages) CHECK(message.key == "model");  // a model without a shape says so
  }
}
