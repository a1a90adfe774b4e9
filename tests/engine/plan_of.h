#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/compute/compute.h"
#include "engine/plan/plan.h"

namespace vram::samples {

inline Plan plan_of(const std::string& share) {
  const PlanReading reading = read_plan(share);
  REQUIRE(reading.answerable);
  return reading.plan;
}

inline ComputeFigures figures(const std::string& share) { return compute_figures(plan_of(share)); }

/// The item of that id (a finding, a limit); nullptr where there is none.
template <class Item>
const Item* find(const std::vector<Item>& items, std::string_view id) {
  for (const Item& item : items)
    if (id == item.id) return &item;
  return nullptr;
}

}  // namespace vram::samples
