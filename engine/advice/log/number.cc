#include "engine/advice/log/number.h"

#include <iterator>

#include "engine/text.h"
#include "engine/units.h"

namespace vram {
namespace {

constexpr int kMostDigits = 18;  // as many as 64 bits hold

bool goes_on(const LogText& text, size_t at) { return text.gap(at) == Gap::none || text.gap(at) == Gap::broken; }

size_t digits_from(const LogText& text, size_t at) {
  size_t end = at;
  while (is_digit(text.at(end)) && (end == at || goes_on(text, end))) ++end;
  return end - at;
}

struct Reader {
  const LogText& text;
  NumberScan out;
  int count = 0;

  void take(size_t at, size_t length, bool fraction) {
    for (size_t i = at; i < at + length; ++i) {
      if (count == kMostDigits + 1) {
        if (!fraction) out.result = Scan::too_large;
        continue;  // further decimals do not change a byte
      }
      if (out.digits > 0 || text.at(i) != '0') ++count;
      out.digits = out.digits * 10 + static_cast<uint64_t>(text.at(i) - '0');
      if (fraction) ++out.decimals;
    }
  }

  /// ",840": three digits, as often as they come; two or four are decimals.
  bool thousands(size_t at) const {
    return text.at(at) == ',' && goes_on(text, at) && goes_on(text, at + 1) && digits_from(text, at + 1) == 3;
  }
  /// ".97"
  bool bare_fraction(size_t at) const {
    const bool alone = at == 0 || text.at(at - 1) != '.' || text.gap(at) != Gap::none;
    return text.at(at) == '.' && alone && goes_on(text, at + 1) && digits_from(text, at + 1) > 0;
  }
  bool point(size_t at) const {
    const char c = text.at(at);
    return (c == '.' || c == ',') && goes_on(text, at) && goes_on(text, at + 1) && digits_from(text, at + 1) > 0;
  }
};

struct Unit {
  std::string_view name;
  uint64_t binary, decimal;
};

constexpr uint64_t kKi = 1024, kMi = kKi * 1024, kGi = kMi * 1024, kTi = kGi * 1024;
constexpr Unit kUnits[] = {{"bytes", 1, 1},
                           {"byte", 1, 1},
                           {"kbytes", kKi, 1000},
                           {"mbytes", kMi, 1000000},
                           {"gbytes", kGi, 1000000000},
                           {"kib", kKi, kKi},
                           {"mib", kMi, kMi},
                           {"gib", kGi, kGi},
                           {"tib", kTi, kTi},
                           {"ki", kKi, kKi},
                           {"mi", kMi, kMi},
                           {"gi", kGi, kGi},
                           {"ti", kTi, kTi},
                           {"kb", kKi, 1000},
                           {"mb", kMi, 1000000},
                           {"gb", kGi, 1000000000},
                           {"tb", kTi, 1000000000000},
                           {"k", kKi, 1000},
                           {"m", kMi, 1000000},
                           {"g", kGi, 1000000000},
                           {"t", kTi, 1000000000000},
                           {"b", 1, 1}};

/// "4.00GiBtotalcapacity" of a paste that lost its blanks: no word begins with "GiB".
bool binary_spelling(const LogText& text, size_t at, std::string_view name) {
  return name.size() == 3 && text.at(at) != name[0] && text.at(at + 1) == 'i' && text.at(at + 2) == 'B';
}

/// The unit ends where a word may end. Capitals are not compared: kB, KB. A single letter behind a blank may be the
/// first of a word that was cut off.
bool has_unit(const LogText& text, size_t at, std::string_view name) {
  if (name.size() == 1 && name != "b" && text.gap(at) != Gap::none && !(text.wrapped(at) && at + 1 < text.size())) {
    return false;
  }
  for (size_t i = 0; i < name.size(); ++i) {
    if (lower_case(text.at(at + i)) != name[i]) return false;
  }
  const size_t end = at + name.size();
  const bool word =
      is_letter(text.at(end)) && is_letter(text.at(end + 1)) && (name == "bytes" || binary_spelling(text, at, name));
  return text.gap(end) != Gap::none || word || !(is_letter(text.at(end)) || is_digit(text.at(end)));
}

}  // namespace

NumberScan scan_number(const LogText& text, size_t at) {
  Reader reader{text, {}};
  if (text.at(at) == '~') ++at;  // about
  if (text.at(at) == '-' || text.at(at) == '+') {
    reader.out.negative = text.at(at) == '-';
    if (text.gap(at + 1) != Gap::none) return {};
    ++at;
  }
  const size_t whole = digits_from(text, at);
  if (whole == 0 && !reader.bare_fraction(at)) return {};
  reader.out.result = Scan::read;
  reader.take(at, whole, false);
  at += whole;
  if (whole <= 3) {
    const size_t first = at;
    for (; reader.thousands(at); at += 4) reader.take(at + 1, 3, false);
    if (at > first && text.at(at) == ',' && reader.point(at))
      return {};  // "153,700,88": no number that anything prints
  }
  if (whole == 0 || reader.point(at)) {
    const size_t length = digits_from(text, at + 1);
    reader.take(at + 1, length, true);
    at += 1 + length;
  }
  reader.out.end = at;
  return reader.out;
}

double number_value(const NumberScan& number) {
  // both are exact, and so is then the quotient's rounding
  constexpr double kPowers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
  if (number.digits < uint64_t{1} << 53 && number.decimals < static_cast<int>(std::size(kPowers))) {
    const double value = static_cast<double>(number.digits) / kPowers[number.decimals];
    return number.negative ? -value : value;
  }
  std::string text = std::to_string(number.digits);
  if (number.decimals > 0) text += "e-" + std::to_string(number.decimals);
  const double value = read_number(text).value_or(0);
  return number.negative ? -value : value;
}

bool number_bytes(const NumberScan& number, uint64_t unit_bytes, int64_t& bytes) {
  using Wide = unsigned __int128;
  if (number.result != Scan::read) return false;
  Wide scale = 1;
  for (int i = 0; i < number.decimals; ++i) scale *= 10;
  const Wide rounded = (Wide{number.digits} * unit_bytes + scale / 2) / scale;
  if (rounded > static_cast<Wide>(INT64_MAX)) return false;
  bytes = static_cast<int64_t>(static_cast<uint64_t>(rounded));
  if (number.negative) bytes = -bytes;
  return true;
}

SizeScan scan_size(const LogText& text, size_t at, Gigabyte gigabyte) {
  const NumberScan number = scan_number(text, at);
  if (number.result == Scan::absent) return {Scan::absent, at};
  UnitScan unit = scan_unit(text, number.end, gigabyte);
  if (unit.bytes == 0 && text.at(number.end) == '.' && number.end == at + 3) {  // numpy's "926. GiB": three digits
    unit = scan_unit(text, number.end + 1, gigabyte);
  }
  if (unit.bytes == 0) return {Scan::no_unit, number.end};
  SizeScan size{Scan::read, unit.end};
  if (!number_bytes(number, unit.bytes, size.bytes)) size.result = Scan::too_large;
  return size;
}

UnitScan scan_unit(const LogText& text, size_t at, Gigabyte gigabyte) {
  const char first = lower_case(text.at(at));
  for (const Unit& unit : kUnits) {
    if (unit.name[0] != first || !has_unit(text, at, unit.name)) continue;
    return {gigabyte == Gigabyte::decimal ? unit.decimal : unit.binary, at + unit.name.size()};
  }
  const size_t behind = text.gap(at) == Gap::line ? text.behind_prefix(at) : at;
  return behind > at ? scan_unit(text, behind, gigabyte) : UnitScan{0, at};
}

}  // namespace vram
