#pragma once

#include <cstdint>
#include <string>

#include "engine/advice/log/text.h"

namespace vram {

/// What "GB" means where a tool prints it: most of them divide by 2^30.
enum class Gigabyte : uint8_t { binary, decimal };

enum class Scan : uint8_t { read, absent, no_unit, too_large };

/// A number of a log: "1,219,840", "1900,00", "-0.87", "0.8999999761581421". `end`: behind it.
struct NumberScan {
  Scan result = Scan::absent;
  size_t end = 0;
  bool negative = false;
  uint64_t digits = 0;  // all of them, as one integer
  int decimals = 0;     // of them behind the point
};
NumberScan scan_number(const LogText& text, size_t at);

double number_value(const NumberScan& number);

/// number x unit, rounded to the nearest byte; false above 2^63.
bool number_bytes(const NumberScan& number, uint64_t unit_bytes, int64_t& bytes);

/// A number and its unit: "12.50 MiB", "0 bytes", "63.80G", "6144MiB". Without a unit it is no size.
struct SizeScan {
  Scan result = Scan::absent;
  size_t end = 0;
  int64_t bytes = 0;
};
SizeScan scan_size(const LogText& text, size_t at, Gigabyte gigabyte);

/// A unit, without a number: "GB" of "max allocated (GB): 19.07". No bytes: none stands there.
struct UnitScan {
  uint64_t bytes = 0;
  size_t end = 0;
};
UnitScan scan_unit(const LogText& text, size_t at, Gigabyte gigabyte);

}  // namespace vram
