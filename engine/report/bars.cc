#include "engine/report/bars.h"

#include <algorithm>

namespace vram {
namespace {

bool alike(const StageBill& a, const StageBill& b) {
  return a.layers == b.layers && a.device_bytes == b.device_bytes && a.band_bytes == b.band_bytes &&
         std::string_view(a.phase) == b.phase;
}

}  // namespace

size_t end_of_alike(const std::vector<StageBill>& stages, size_t first) {
  size_t end = first + 1;
  while (end < stages.size() && alike(stages[first], stages[end])) ++end;
  return end;
}

std::string name_of_stages(size_t first, size_t end) {
  if (end == first + 1) return "Stage " + std::to_string(first);
  return "Stages " + std::to_string(first) + "–" + std::to_string(end - 1);
}

std::vector<Bar> training_bars(const TrainingBill& bill) {
  std::vector<Bar> bars;
  for (size_t first = 0, end = 0; first < bill.stages.size(); first = end) {
    const StageBill& stage = bill.stages[first];
    end = end_of_alike(bill.stages, first);
    bars.push_back({bill.stages.size() == 1 ? "Each GPU" : name_of_stages(first, end), stage.lines,
                    static_cast<double>(stage.device_bytes), static_cast<double>(stage.band_bytes)});
  }
  const auto lower = [](const Bar& a, const Bar& b) { return a.bytes < b.bytes; };
  while (bars.size() > kMostBars) bars.erase(std::min_element(bars.begin(), bars.end(), lower));
  return bars;
}

std::vector<Bar> serving_bars(const ServingBill& bill) {
  return {{"Each GPU", bill.lines, static_cast<double>(bill.device_bytes), static_cast<double>(bill.band_bytes)}};
}

uint32_t line_rgb(Lines bill, std::string_view id) {
  struct Entry {
    std::string_view id;
    uint32_t rgb;
  };
  constexpr Entry kEntries[] = {{"weights", 0x0072B2},     {"gradients", 0x56B4E9}, {"optimizer", 0x009E73},
                                {"activations", 0xE69F00}, {"kv_cache", 0xE69F00},  {"logits", 0xD55E00},
                                {"adapters", 0xCC79A7},    {"gathered", 0xCC79A7}};
  const bool serving =
      std::any_of(bill.begin(), bill.end(), [](const Line& line) { return std::string_view(line.id) == "kv_cache"; });
  if (serving && id == "activations") id = "logits";  // amber is the KV cache's there
  for (const Entry& entry : kEntries)
    if (entry.id == id) return entry.rgb;
  return 0x9A9A94;
}

}  // namespace vram
