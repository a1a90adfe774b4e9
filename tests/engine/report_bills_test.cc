#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/report/report.h"
#include "tests/engine/report_random_plans.h"

using namespace vram;

namespace {

constexpr uint32_t kPlans = 300;

/// Every line is what its children, or its factors, come to.
bool adds_up(const Line& line) {
  if (line.children.empty()) {
    return line.factors.empty() ? line.bytes == 0 : line.bytes == product_bytes(line.factors, nullptr);
  }
  uint64_t bytes = 0, band = 0;
  for (const Line& child : line.children) {
    if (!adds_up(child)) return false;
    bytes += child.bytes;
    band += child.band_bytes;
  }
  return line.factors.empty() && line.bytes == bytes && line.band_bytes == band;
}

bool all_add_up(Lines lines) {
  for (const Line& line : lines) {
    if (!adds_up(line)) return false;
  }
  return true;
}

/// No two siblings of one id, at any level.
bool ids_differ(Lines lines) {
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!ids_differ(lines[i].children)) return false;
    for (size_t j = 0; j < i; ++j) {
      if (std::strcmp(lines[i].id, lines[j].id) == 0) {
        UNSCOPED_INFO("twice: " << lines[i].id);
        return false;
      }
    }
  }
  return true;
}

std::string ids(Lines lines, size_t first = 0, size_t count = 99) {
  std::string text;
  for (size_t i = first; i < lines.size() && i < first + count; ++i) text.append(lines[i].id).append(" ");
  return text;
}

uint64_t sum(Lines lines, size_t count) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; ++i) bytes += lines[i].bytes;
  return bytes;
}

const std::string kAllocated = "weights gradients optimizer adapters activations logits gathered buffers ";
constexpr size_t kAllocatedLines = 8;

void check_training(const TrainingBill& bill) {
  if (bill.verdict == Verdict::invalid) {
    CHECK_FALSE(bill.faults.empty());
    return;
  }
  REQUIRE(ids(bill.lines) == kAllocated + "fragmentation context communication ");
  CHECK(all_add_up(bill.lines));
  CHECK(ids_differ(bill.lines));
  CHECK(sum(bill.lines, kAllocatedLines) == bill.allocated_bytes);
  CHECK(sum(bill.lines, kAllocatedLines + 1) == bill.reserved_bytes);
  CHECK(total_bytes(bill.lines) == bill.device_bytes);
  CHECK(total_band_bytes(bill.lines) == bill.band_bytes);
  CHECK(bill.headroom_bytes == static_cast<int64_t>(bill.capacity_bytes) - static_cast<int64_t>(bill.device_bytes));
}

void check_phases_and_stages(const TrainingBill& bill) {
  if (bill.verdict == Verdict::invalid) return;
  uint64_t fullest_phase = 0, fullest_stage = 0;
  for (const Phase& phase : bill.phases) {
    CHECK(ids(phase.lines) == kAllocated);
    CHECK(all_add_up(phase.lines));
    CHECK(total_bytes(phase.lines) == phase.allocated_bytes);
    fullest_phase = std::max(fullest_phase, phase.allocated_bytes);
    if (std::strcmp(phase.id, bill.phase) == 0) CHECK(phase.allocated_bytes == bill.allocated_bytes);
  }
  for (const StageBill& stage : bill.stages) {
    CHECK(ids(stage.lines) == kAllocated + "fragmentation context communication ");
    CHECK(total_bytes(stage.lines) == stage.device_bytes);
    fullest_stage = std::max(fullest_stage, stage.device_bytes);
  }
  CHECK(fullest_phase == bill.allocated_bytes);
  CHECK(fullest_stage == bill.device_bytes);
}

void check_serving(const ServingBill& bill) {
  if (bill.verdict == Verdict::invalid) {
    CHECK_FALSE(bill.faults.empty());
    return;
  }
  CHECK(ids(bill.lines) == "weights kv_cache activations graphs buffers context reserve ");
  CHECK(all_add_up(bill.lines));
  CHECK(ids_differ(bill.lines));
  CHECK(total_bytes(bill.lines) == bill.device_bytes);
  CHECK(total_band_bytes(bill.lines) == bill.band_bytes);
  CHECK(all_add_up(bill.request_lines));
  if (bill.kv_bytes_per_request && !bill.request_lines.empty()) {
    CHECK(total_bytes(bill.request_lines) == *bill.kv_bytes_per_request);
  }
}

bool has_null(const nlohmann::json& value) {
  if (value.is_null()) return true;
  if (!value.is_structured()) return false;
  for (const auto& item : value) {
    if (has_null(item)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("bills of 300 random plans add up to the byte at every level") {
  uint32_t possible = 0;
  for (uint32_t seed = 0; seed < kPlans; ++seed) {
    const std::string share = RandomPlan(seed).share();
    CAPTURE(seed, share);
    const Report result = report(share);
    REQUIRE(result.answered);
    check_training(result.training);
    check_phases_and_stages(result.training);
    check_serving(result.serving);
    for (const Traffic& item : result.compute.traffic) CHECK(adds_up(item.line));
    if (result.training.verdict != Verdict::invalid) ++possible;
  }
  CHECK(possible > kPlans / 3);  // else nothing has been looked at
}

TEST_CASE("reports of random plans are JSON without null, and reproduced by their own share string", "[native]") {
  for (uint32_t seed = 0; seed < kPlans; ++seed) {
    const std::string share = RandomPlan(seed).share();
    CAPTURE(seed, share);
    const Report result = report(share);
    const nlohmann::json first = nlohmann::json::parse(report_json(result), nullptr, false);
    REQUIRE(first.is_object());
    CHECK_FALSE(has_null(first));
    const Report again = report(result.share);
    CHECK(again.share == result.share);
    const nlohmann::json second = nlohmann::json::parse(report_json(again), nullptr, false);
    for (const char* part : {"model", "hardware", "training", "compute", "serving"})
      CHECK(first.at(part) == second.at(part));
  }
}
