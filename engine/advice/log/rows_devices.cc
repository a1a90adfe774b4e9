#include "engine/advice/log/families.h"

namespace vram {
namespace {

// The power column and, under MIG, the BAR1 line look like memory: the first has no bytes, the second an empty cell
// before it.
constexpr LogRow kNvidia[] = {
    {"| | {S} / {S} |"},
    {"| {S used} / {S total} |"},
    {"| Not Supported |", "unread=used_bytes"},
    {"| {n} N/A N/A {n} {w} {t process_name} {S process_list} |"},
    {"| {n} {n} {w} {t process_name} {S process_list} |"},                       // to 2020, before MIG
    {"| {n device} {n} {n} {n} | {S used} / {S total} |", "", RowRole::starts},  // a MIG device
    {"| {n device} {t gpu_name} | 0000", "", RowRole::starts},
    {"GPU {n device}: {t gpu_name} (UUID", "", RowRole::starts},
    {"GPU {n device}: {S used} / {S total}", "", RowRole::starts},  // in somebody's own words
    {"{M used} MiB / {M total} MiB", "", RowRole::starts},
    {"fb_memory_usage>$total>{S total}$used>{S used}^$free>{S free}", "", RowRole::starts},  // XML
    {"FB Memory Usage Total : {S total}< Reserved : {S driver_reserved}> Used : {S used}^ Free : {S free}", "",
     RowRole::starts},
};

constexpr LogRow kRocm[] = {
    {"GPU[{n device}] : VRAM Total Memory (B): {B total}", "", RowRole::starts},
    {"GPU[{n device}] : VRAM Total Used Memory (B): {B used}"},
    {"VRAM Total Memory (B)\" @{B total}"},
    {"VRAM Total Used Memory (B)\" @{B used}"},
    {"card{n device}\":", "", RowRole::starts},
    {"Card series\" @{t gpu_name}\""},
    {"Card series: {t gpu_name}"},
    {"VRAM% GPU%", "unread=used_bytes"},  // of a total that is not printed
};

// amdsmi_commands.py: bytes / 2^20.
constexpr LogRow kAmd[] = {
    {"TOTAL_VRAM: {S total}", "", RowRole::starts},
    {"amdgpu: VRAM: {S total}", "", RowRole::starts},  // the kernel's driver
    {"USED_VRAM: {S used}"},
    {"VRAM_MEM: {S process_list}"},
    {"FREE_VRAM: {S free}"},
};

// gpustat, and the table of amd-smi: one unit behind two numbers.
constexpr LogRow kShort[] = {
    {"[{n device}] {t gpu_name} | {n}~C, {n} %", "", RowRole::starts},
    {"| {M used} / {M total} MB |"},
};

// amd-smi's table since 6.4: "VRAM_USAGE", one unit behind two numbers.
constexpr LogRow kAmdTable[] = {
    {"| {n device} {n} {w} {w} | {w} <%> {w} <%> {M used}/{M total} MB |", "", RowRole::starts},  // since 26
    {"{n device} {n} W {n} °C {n} °C {n} MHz {n} % {n} % {n} MHz {G used}/{S total}", "", RowRole::starts},
};

// Ascend: "HBM-Usage(MB)".
constexpr LogRow kNpu[] = {
    {"| {n device} | {n}:{w} | {n} {n} / {n} {M used}/ {M total} |", "", RowRole::starts},
    {"| {n} {n device} | {n}:{w} | {n} {n} / {n} {M used}/ {M total} |", "", RowRole::starts},
};

// nvtop, its screen copied.
constexpr LogRow kNvtop[] = {
    {"Device {n device} [{t gpu_name}] PCIe", "", RowRole::starts},
    {"MEM[<!>{S used}/{S total}]"},
};

constexpr LogFamily kFamilies[] = {{"nvtop", Gigabyte::binary, kNvtop},      {"nvidia-smi", Gigabyte::binary, kNvidia},
                                   {"rocm-smi", Gigabyte::binary, kRocm},    {"amd-smi", Gigabyte::binary, kAmd},
                                   {"amd-smi", Gigabyte::binary, kAmdTable}, {"npu-smi", Gigabyte::binary, kNpu},
                                   {"gpustat", Gigabyte::binary, kShort}};

}  // namespace

std::span<const LogFamily> device_families() { return kFamilies; }

}  // namespace vram
