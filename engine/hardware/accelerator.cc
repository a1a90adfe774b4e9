#include "engine/hardware/accelerator.h"

#include <nlohmann/json.hpp>

#include "engine/preset_table.h"
#include "engine/units.h"

namespace vram {
namespace {

using nlohmann::json;

double number(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return 0;
  const double value = found->get<double>();
  return value > 0 && value < 1e15 ? value : 0;
}

std::string text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool flag(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

/// "peaks: ...; price: ...": every group of figures with where it comes from.
std::string sources(const json& object) {
  const auto found = object.find("sources");
  std::string joined;
  if (found == object.end() || !found->is_object()) return joined;
  for (const auto& [group, source] : found->items()) {
    if (!source.is_string()) continue;
    if (!joined.empty()) joined += "; ";
    joined += group + ": " + source.get<std::string>();
  }
  return joined;
}

void read_peaks(const json& object, Accelerator& accelerator) {
  const auto peaks = object.find("peak_dense_tflops");
  if (peaks == object.end() || !peaks->is_object()) return;
  accelerator.fp32_tflops = number(*peaks, "fp32");
  accelerator.tf32_tflops = number(*peaks, "tf32");
  accelerator.fp16_tflops = number(*peaks, "fp16");
  accelerator.bf16_tflops = number(*peaks, "bf16");
  accelerator.fp8_tflops = number(*peaks, "fp8");
  accelerator.fp4_tflops = number(*peaks, "fp4");
  accelerator.int8_tops = number(*peaks, "int8");
  accelerator.int4_tops = number(*peaks, "int4");
}

/// The driver's figure where known. Otherwise the box's: decimal gigabytes for a card (the low side, since an "80 GB"
/// card reports between 79.6 and 80 GiB), binary ones for unified memory, whose DRAM modules are powers of two
/// (llama.cpp on a 64 GB M1 Max prints recommendedMaxWorkingSetSize 51539.61 MB = 0.75 x 64 GiB).
void read_memory(const json& object, Accelerator& accelerator) {
  const double marketed_gb = number(object, "memory_marketed_gb");
  const double reported_mib = number(object, "memory_mib");
  accelerator.marketed_bytes = marketed_gb * kGB;
  accelerator.unified_memory = flag(object, "unified_memory");
  if (const double fraction = number(object, "usable_fraction"); fraction > 0 && fraction <= 1) {
    accelerator.usable_fraction = fraction;
  }
  const double whole = reported_mib > 0             ? reported_mib * kMiB
                       : accelerator.unified_memory ? marketed_gb * kGiB
                                                    : accelerator.marketed_bytes;
  accelerator.memory_bytes = whole * accelerator.usable_fraction;
}

void read_links(const json& object, Accelerator& accelerator) {
  accelerator.pcie_gb_s = number(object, "pcie_gb_per_s");
  accelerator.net_gb_s = number(object, "net_gb_per_s");
  accelerator.link = text(object, "link");
  accelerator.link_gb_s = number(object, "link_gb_per_s");
  accelerator.link_gpus = number(object, "link_gpus");
  if (accelerator.link_gb_s == 0 && accelerator.pcie_gb_s > 0) {
    accelerator.link_gb_s = accelerator.pcie_gb_s;
    accelerator.link_is_pcie = true;
    accelerator.link = "PCIe";
  }
  if (const double node = number(object, "gpus_per_node"); node >= 1) accelerator.node = node;
  accelerator.host_gib = number(object, "host_gib_per_node");
}

}  // namespace

Accelerator custom_accelerator() {
  Accelerator accelerator;
  accelerator.id = "custom";
  accelerator.name = "Custom GPU";
  return accelerator;
}

double peak_tflops(const Accelerator& accelerator, std::string_view format) {
  const Accelerator& a = accelerator;
  const auto wider = [](double own, double next) { return own > 0 ? own : next; };
  const double fp32 = a.fp32_tflops;
  if (format == "fp32") return fp32;
  if (format == "tf32") return wider(a.tf32_tflops, fp32);
  if (format == "fp16") return wider(a.fp16_tflops, wider(a.bf16_tflops, fp32));
  const double bf16 = wider(a.bf16_tflops, wider(a.fp16_tflops, fp32));
  if (format == "bf16") return bf16;
  const double fp8 = wider(a.fp8_tflops, bf16);
  if (format == "fp8") return fp8;
  if (format == "fp4") return wider(a.fp4_tflops, fp8);
  if (format == "int8") return wider(a.int8_tops, bf16);
  if (format == "int4") return wider(a.int4_tops, wider(a.int8_tops, bf16));
  return 0;
}

std::optional<Accelerator> read_accelerator(std::string_view preset) {
  const json object = json::parse(preset, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return std::nullopt;
  Accelerator accelerator;
  accelerator.id = text(object, "id");
  accelerator.name = text(object, "name");
  accelerator.vendor = text(object, "vendor");
  accelerator.family = text(object, "family");
  accelerator.note = text(object, "note");
  accelerator.source = sources(object);
  accelerator.bandwidth_gb_s = number(object, "bandwidth_gb_per_s");
  accelerator.watts = number(object, "watts");
  accelerator.usd_per_hour = number(object, "usd_per_hour");
  read_peaks(object, accelerator);
  read_memory(object, accelerator);
  read_links(object, accelerator);
  if (accelerator.id.empty() || accelerator.name.empty() || accelerator.memory_bytes == 0) return std::nullopt;
  return accelerator;
}

std::shared_ptr<const Accelerator> find_accelerator(std::string_view id) {
  for (const PresetRow& row : hardware_presets()) {
    if (row.id != id) continue;
    if (auto sheet = read_accelerator(row.json)) return std::make_shared<const Accelerator>(*std::move(sheet));
  }
  return nullptr;
}

}  // namespace vram
