// vram-hash COUNT: a hash of the reports of so many random plans, a line for every thousand of them. The same lines
// come from every compiler, at every optimisation, natively and under Node (tools/same_bits.sh compares them).
// vram-hash COUNT FIRST: of the plans from number FIRST on. vram-hash 1 NUMBER --json: that plan's report itself.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "engine/report/report.h"
#include "tests/engine/plan_samples.h"
#include "tests/engine/report_random_plans.h"

namespace {

/// FNV-1a, 64 bits.
struct Hash {
  uint64_t value = 14695981039346656037u;
  void add(const std::string& text) {
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
};

/// Even numbers: a plan that could be somebody's. Odd ones: keys with any value of their range.
vram::Report random_report(uint32_t number) {
  return vram::report(number % 2 == 0 ? vram::RandomPlan(number).share() : vram::samples::random_share(number));
}

}  // namespace

int main(int count, char** arguments) {
  const auto number = [&](int i) { return i < count ? static_cast<uint32_t>(std::atol(arguments[i])) : 0; };
  const uint32_t plans = number(1), first = number(2);
  const bool prints = count > 3 && std::strcmp(arguments[3], "--json") == 0;
  Hash hash;
  for (uint32_t i = first; i < first + plans; ++i) {
    const vram::Report report = random_report(i);
    const std::string json = vram::report_json(report, true);
    if (prints) std::puts(json.c_str());
    hash.add(json);
    hash.add(vram::report_text(report));
    hash.add(vram::report_markdown(report));
    if ((i + 1) % 1000 == 0 || i + 1 == first + plans)
      std::printf("plans to %u: %016llx\n", i, static_cast<unsigned long long>(hash.value));
  }
  return 0;
}
