#include <string_view>

#include "engine/advice/log/read_log.h"
#include "engine/advice/recognise.h"

/// Any text is a log of which something, or nothing, is read.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  vram::recognise(text);
  vram::read_log(text);
  return 0;
}
