#include "engine/advice/log/free_table.h"

#include <array>
#include <string>
#include <string_view>

#include "engine/advice/log/device_csv.h"
#include "engine/advice/log/number.h"
#include "engine/text.h"

namespace vram {
namespace {

constexpr std::string_view kHead = "totalusedfreeshared", kRow = "Mem:", kCommand = "free";
constexpr uint32_t kFirstMessage = kFirstTableMessage + (1u << 19);
constexpr size_t kCommandReach = 120;  // characters between the command and the head
constexpr uint64_t kKi = 1024, kMi = kKi * 1024, kGi = kMi * 1024;

/// Of the options of "free -m" from `at` to the head: what they say; 1,024 without any; 0 where units are printed.
uint64_t optioned_unit(const LogText& text, size_t at, size_t head) {
  uint64_t unit = kKi;
  while (at < head && text.gap(at) != Gap::line && text.at(at) == '-') {
    for (++at; at < head && text.gap(at) == Gap::none && is_letter(text.at(at)); ++at) {
      const char c = text.at(at);
      if (c == 'h') return 0;
      unit = c == 'b' ? 1 : c == 'k' ? kKi : c == 'm' ? kMi : c == 'g' ? kGi : unit;
    }
  }
  return unit;
}

/// Of the command that stands before a head; 0: none does.
uint64_t commanded_unit(const LogText& text, size_t head) {
  const size_t from = head > kCommandReach ? head - kCommandReach : 0;
  const size_t found = std::string_view(text.characters).substr(from, head - from).rfind(kCommand);
  if (found == std::string_view::npos) return 0;
  const size_t option = from + found + kCommand.size();
  return text.gap(option) == Gap::none ? 0 : optioned_unit(text, option, head);  // no "freely"
}

/// Without the command: of a total that is a host's memory in one unit alone.
uint64_t likely_unit(uint64_t total) {
  constexpr uint64_t kLeast = uint64_t{1} << 28, kMost = uint64_t{16} << 40;  // of a host
  uint64_t found = 0;
  for (const uint64_t unit : {kKi, kMi, kGi}) {
    if (total > kMost / unit || total * unit < kLeast) continue;
    if (found != 0) return 0;
    found = unit;
  }
  return found;
}

void add_table(const LogText& text, size_t head, LogReading& reading) {
  const size_t row = text.characters.find(kRow, head);
  if (row == std::string::npos || row > head + 80) return;
  std::array<NumberScan, 3> numbers;
  size_t at = row + kRow.size();
  for (NumberScan& number : numbers) {
    number = scan_number(text, at);
    if (number.result != Scan::read || number.decimals > 0 || text.gap(number.end) == Gap::none) return;
    at = number.end;
  }
  uint64_t unit = commanded_unit(text, head);
  if (unit == 0) unit = likely_unit(numbers[0].digits);
  constexpr const char* kNames[] = {"host_total_bytes", "host_used_bytes", "host_free_bytes"};
  const uint32_t line = text.lines[row];
  if (unit == 0)
    return reading.gaps.push_back({kNames[0], std::to_string(numbers[0].digits), "its unit is missing", line});
  for (size_t i = 0; i < numbers.size(); ++i) {
    int64_t bytes = 0;
    if (!number_bytes(numbers[i], unit, bytes)) continue;
    const std::string printed = std::to_string(numbers[i].digits);
    reading.figures.push_back(table_size(kNames[i], bytes, printed, "free", kFirstMessage + line, line));
  }
}

}  // namespace

void read_free_tables(const LogText& text, LogReading& reading) {
  constexpr size_t kMost = 64;
  size_t count = 0;
  for (size_t at = text.characters.find(kHead); at != std::string::npos && count < kMost; ++count) {
    add_table(text, at, reading);
    at = text.characters.find(kHead, at + kHead.size());
  }
}

}  // namespace vram
