#include <cstdlib>
#include <string>

#include "engine/plan/plan.h"
#include "engine/report/report.h"

/// Any share string gets a report; its plan, written, reads back to itself; no figure of it is infinite.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const vram::PlanReading reading = vram::read_plan(text);
  const std::string written = vram::write_plan(reading.plan, true);
  if (vram::write_plan(vram::read_plan(written).plan, true) != written) std::abort();
  const vram::Report report = vram::report(reading);
  const std::string json = vram::report_json(report);
  for (const char* word : {":inf", ":-inf", ":nan", ":-nan", ":null"})
    if (json.find(word) != std::string::npos) std::abort();
  vram::report_text(report);
  vram::report_markdown(report);
  vram::report_svg(report);
  return 0;
}
