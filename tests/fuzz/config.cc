#include <cstdlib>
#include <string_view>

#include "engine/model/config_json.h"
#include "engine/plan/plan.h"

/// Any config.json is read or refused by name; one that was read is a plan.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  const vram::ConfigReading reading = vram::read_config({reinterpret_cast<const char*>(data), size});
  if (!reading.ok && reading.faults.empty()) std::abort();
  if (reading.ok) vram::write_plan(vram::plan_of_architecture(reading.architecture), true);
  return 0;
}
