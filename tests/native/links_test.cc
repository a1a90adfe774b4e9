#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <sstream>

#include "engine/report/report.h"
#include "engine/units.h"

using namespace vram;

namespace {

template <class Value>
std::string shown(const std::optional<Value>& value) {
  return value ? show_fixed(static_cast<double>(*value), 0) : "-";
}

std::optional<double> known_parameters(const Report& report) {
  const double count = report.plan.subject->nominal_parameters;
  return count > 0 ? std::optional(count) : std::nullopt;
}

std::string figures(const Report& report) {
  if (!report.answered) return "-\t-\t-\t-\t-";
  std::optional<uint64_t> training, serving;
  if (!report.training.lines.empty()) training = report.training.device_bytes;
  if (!report.serving.lines.empty()) serving = report.serving.device_bytes;
  return shown(known_parameters(report)) + "\t" + shown(training) + "\t" + shown(report.compute.step_flops) + "\t" +
         shown(serving) + "\t" + shown(report.serving.kv_bytes_per_request);
}

}  // namespace

TEST_CASE("old links answer what they answered (tests/links/v1.txt says what to do where that was to change)") {
  std::ifstream file(VRAM_SOURCE_DIR "/tests/links/v1.txt");
  int links = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::string share = line.substr(0, line.find('\t'));
    CAPTURE(share);
    CHECK(line == share + "\t" + figures(report(share)));
    links++;
  }
  CHECK(links >= 30);
}

TEST_CASE("keys that only a later version knows survive reading and writing") {
  const PlanReading reading = read_plan("v=1&model=llama-2-7b&tp=2&later=a%2Bb&even_later=");
  CHECK(write_plan(reading.plan, true) == "v=1&model=llama-2-7b&tp=2&later=a%2Bb&even_later=");
}
