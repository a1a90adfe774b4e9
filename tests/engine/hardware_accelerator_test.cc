#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/hardware/accelerator.h"
#include "engine/preset_table.h"
#include "engine/units.h"

using namespace vram;

TEST_CASE("Every data sheet is read, with memory, a node and a year") {
  CHECK(hardware_presets().size() >= 79);
  for (const PresetRow& row : hardware_presets()) {
    INFO(row.id);
    const auto accelerator = read_accelerator(row.json);
    REQUIRE(accelerator);
    CHECK(accelerator->id == row.id);
    CHECK(accelerator->name == row.name);
    CHECK(accelerator->vendor == row.detail);
    CHECK_FALSE(row.family.empty());  // what the page lists it under
    CHECK(accelerator->memory_bytes > 0);
    CHECK(accelerator->bandwidth_gb_s > 0);
    CHECK(accelerator->node >= 1);
    CHECK_FALSE(accelerator->source.empty());
  }
}

TEST_CASE("A data sheet has no field that nobody reads, as of a slip of the pen") {
  const std::string_view known[] = {"id",
                                    "name",
                                    "vendor",
                                    "family",
                                    "note",
                                    "sources",
                                    "memory_type",
                                    "memory_marketed_gb",
                                    "memory_mib",
                                    "unified_memory",
                                    "usable_fraction",
                                    "bandwidth_gb_per_s",
                                    "peak_dense_tflops",
                                    "link",
                                    "link_gb_per_s",
                                    "link_gpus",
                                    "pcie_gb_per_s",
                                    "net_gb_per_s",
                                    "gpus_per_node",
                                    "host_gib_per_node",
                                    "watts",
                                    "usd_per_hour"};
  const std::string_view formats[] = {"fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "int8", "int4"};
  for (const PresetRow& row : hardware_presets()) {
    const auto sheet = nlohmann::json::parse(row.json);
    for (const auto& [name, value] : sheet.items()) {
      CAPTURE(row.id, name);
      CHECK(std::find(std::begin(known), std::end(known), name) != std::end(known));
    }
    const auto peaks = sheet.value("peak_dense_tflops", nlohmann::json::object());
    for (const auto& [format, peak] : peaks.items()) {
      CAPTURE(row.id, format);
      CHECK(std::find(std::begin(formats), std::end(formats), format) != std::end(formats));
    }
  }
}

TEST_CASE("What the driver reports, not what the box says") {
  struct Row {
    const char* id;
    double mib;
  };
  // nvidia-smi, rocm-smi: total memory of one device.
  const Row rows[] = {{"h100-sxm5-80gb", 81559},
                      {"a100-sxm4-80gb", 81920},
                      {"a100-sxm4-40gb", 40960},
                      {"h200-sxm-141gb", 143771},
                      {"rtx-4090-24gb", 24564},
                      {"l40s", 46068},
                      {"t4", 15360},
                      {"mi300x-192gb", 196592},
                      {"b200-180gb", 183359}};
  for (const Row& row : rows) {
    INFO(row.id);
    const auto accelerator = find_accelerator(row.id);
    REQUIRE(accelerator);
    CHECK(accelerator->memory_bytes == row.mib * kMiB);
  }
}

TEST_CASE("Where no driver figure is known the box's decimal gigabytes stand in") {
  CHECK(find_accelerator("tpu-v5p")->memory_bytes == 95e9);
  CHECK(find_accelerator("mi350x-288gb")->memory_bytes == 288e9);
}

TEST_CASE("Of unified memory only the share counts that a GPU may wire") {
  // llama.cpp on an M1 Max of 64 GB: recommendedMaxWorkingSetSize = 51539.61 MB.
  const auto m1 = find_accelerator("m1-max");
  CHECK(m1->unified_memory);
  CHECK(m1->memory_bytes == 0.75 * 64 * kGiB);
  CHECK(m1->marketed_bytes == 64e9);
}

TEST_CASE("Dense peaks, without sparsity") {
  CHECK(peak_tflops(*find_accelerator("a100-sxm4-80gb"), "bf16") == 312);
  CHECK(peak_tflops(*find_accelerator("h100-sxm5-80gb"), "bf16") == 989.4);
  CHECK(peak_tflops(*find_accelerator("h100-sxm5-80gb"), "fp8") == 1978.9);
  CHECK(peak_tflops(*find_accelerator("rtx-4090-24gb"), "bf16") == 165.2);
}

TEST_CASE("A format the chip lacks runs in the nearest wider one") {
  const Accelerator a100 = *find_accelerator("a100-sxm4-80gb");
  CHECK(peak_tflops(a100, "fp8") == 312);
  CHECK(peak_tflops(a100, "fp4") == 312);
  CHECK(peak_tflops(*find_accelerator("h100-sxm5-80gb"), "fp4") == 1978.9);
  CHECK(peak_tflops(*find_accelerator("v100-sxm2-16gb"), "bf16") == 125);   // fp16's
  CHECK(peak_tflops(*find_accelerator("v100-sxm2-16gb"), "tf32") == 15.7);  // fp32's
  CHECK(peak_tflops(custom_accelerator(), "bf16") == 0);
  CHECK(peak_tflops(a100, "bf12") == 0);
}

TEST_CASE("The link inside a node is PCIe where there is no other") {
  const Accelerator l40s = *find_accelerator("l40s");
  CHECK(l40s.link_is_pcie);
  CHECK(l40s.link_gb_s == 31.5);
  const Accelerator h100 = *find_accelerator("h100-sxm5-80gb");
  CHECK_FALSE(h100.link_is_pcie);
  CHECK(h100.link_gb_s == 450);  // one direction of NVLink 4's 900
  CHECK(find_accelerator("gb200-186gb")->link_gpus == 72);
  CHECK(find_accelerator("a40")->link_gpus == 2);  // a bridge
}

TEST_CASE("What is no data sheet is refused, and wrong types count as absent") {
  CHECK_FALSE(read_accelerator(""));
  CHECK_FALSE(read_accelerator("[1, 2]"));
  CHECK_FALSE(read_accelerator("{\"id\": \"x\"}"));
  CHECK_FALSE(find_accelerator("h100"));
  CHECK_FALSE(find_accelerator(""));
  const auto odd = read_accelerator(
      R"({"id": "x", "name": "X", "memory_marketed_gb": 10, "watts": "many", "usd_per_hour": 1e15,
          "peak_dense_tflops": 3, "gpus_per_node": -1,
          "sources": ["a"], "unified_memory": 1})");
  REQUIRE(odd);
  CHECK(odd->memory_bytes == 10e9);
  CHECK(odd->watts == 0);
  CHECK(odd->node == 8);
  CHECK(odd->usd_per_hour == 0);
  CHECK_FALSE(odd->unified_memory);
}
