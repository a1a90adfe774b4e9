#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vram {

inline constexpr double kKiB = 1024.0, kMiB = kKiB * 1024, kGiB = kMiB * 1024, kTiB = kGiB * 1024;
inline constexpr double kGB = 1e9;

/// "70000000000", "70e9", "70B", "1.5T", "128k" (128,000), "128Ki" (131,072), "25%" = 0.25; suffixes of any case;
/// '_' and ',' between digits ignored. Empty for anything else (and for inf and nan).
std::optional<double> read_number(std::string_view text);

/// A size in bytes: bare numbers count `unit_bytes` each (kGiB for a key in GiB); else with
/// B kB MB GB TB KiB MiB GiB TiB or the short k M G T Ki Mi Gi Ti ("80G" = "80GB", "80B" = 80 bytes).
std::optional<double> read_size(std::string_view text, double unit_bytes);

/// A rate in GB/s: bare numbers are GB/s; "GB/s", "TB/s", "MB/s", and in bits "Gb/s", "Tb/s" (÷ 8).
std::optional<double> read_rate(std::string_view text);

/// Canonical: integers below 2^63 as plain digits, else the shortest decimal that reads back the same.
std::string write_number(double value);

/// Canonical percentage: 0.25 -> "25%"; reads back the same.
std::string write_share(double share);

/// Canonical size: in the key's unit if exact with at most 6 decimals, else in GB, else in B.
std::string write_size(double bytes, double unit_bytes);

enum class Units : uint8_t { gib, gb };

/// "83.9 GiB", "512 MiB", "40 KiB", "0 B" (or GB, MB ...), three or four significant digits, for people.
std::string show_bytes(double bytes, Units units = Units::gib);

/// "8.4e23" as people read it: "8.40e23"; "70.6 B", "1.5 T", "512".
std::string show_count(double value);

/// Grouped digits: 1234567 -> "1,234,567".
std::string show_grouped(double value);

/// "1 micro-batch", "12 micro-batches".
std::string counted(double count, const char* one, const char* several);

/// "1.2 s", "350 ms", "3.4 h", "69.2 days".
std::string show_duration(double seconds);

/// `value` with `digits` decimals, no exponent, "-0" never.
std::string show_fixed(double value, int digits);

}  // namespace vram
