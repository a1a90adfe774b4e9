#include <cmath>
#include <cstdlib>
#include <string>

#include "engine/units.h"

/// What is read is finite, and written canonically reads back the same.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const auto& value : {vram::read_number(text), vram::read_size(text, vram::kGiB), vram::read_rate(text)})
    if (value && !std::isfinite(*value)) std::abort();
  const auto value = vram::read_number(text);
  if (value && vram::read_number(vram::write_number(*value)) != value) std::abort();
  return 0;
}
