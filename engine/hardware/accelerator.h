#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace vram {

/// A data sheet. 0 means not published. Peaks are dense (no 2:4 sparsity).
struct Accelerator {
  std::string id, name, vendor, family, link, note, source;
  double marketed_bytes = 0;  // on the box: 80 GB = 80e9
  double memory_bytes = 0;    // what the driver reports; of unified memory the share a GPU may wire
  double bandwidth_gb_s = 0;  // of its memory, GB/s
  double fp32_tflops = 0, tf32_tflops = 0, fp16_tflops = 0, bf16_tflops = 0, fp8_tflops = 0, fp4_tflops = 0,
         int8_tops = 0, int4_tops = 0;
  double link_gb_s = 0;  // inside a node, one direction, GB/s a GPU (PCIe's where there is no other link)
  bool link_is_pcie = false;
  double link_gpus = 0;  // GPUs joined by that link: 2 of a bridge, 72 of an NVL72 rack; 0: those of the node
  double pcie_gb_s = 0;
  double net_gb_s = 0;  // between nodes, one direction, GB/s a GPU
  double node = 8;      // GPUs a node
  double host_gib = 0;  // host memory a node, GiB; 0 = unknown
  double watts = 0, usd_per_hour = 0;
  bool unified_memory = false;
  double usable_fraction = 1;  // of unified memory
};

/// `gpu=custom`: nothing known but the defaults above; the plan's own keys fill it in.
Accelerator custom_accelerator();

/// Peak in TFLOPS for a compute format ("fp32" "tf32" "bf16" "fp16" "fp8" "fp4"); falls back to the nearest wider
/// format the chip has (fp4 -> fp8 -> bf16 -> fp16 -> fp32;
/// fp16 -> bf16 -> fp32; tf32 -> fp32). 0 where nothing is known.
double peak_tflops(const Accelerator& accelerator, std::string_view format);

/// Reads one preset (presets/hardware/*.json). Empty where it is not one.
std::optional<Accelerator> read_accelerator(std::string_view json);

/// The preset of that id from the generated table. Null where there is none.
std::shared_ptr<const Accelerator> find_accelerator(std::string_view id);

}  // namespace vram
