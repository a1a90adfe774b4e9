#include <cstdlib>
#include <string_view>

#include "engine/advice/launch.h"

/// Any text is a launch command of which something, or nothing, is read; the plan it gives reads back.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const vram::LaunchReading reading = vram::read_launch(text, vram::read_plan("").plan);
  const std::string written = vram::write_plan(reading.plan, true);
  if (vram::write_plan(vram::read_plan(written).plan, true) != written) std::abort();
  return 0;
}
