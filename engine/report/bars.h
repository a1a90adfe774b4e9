#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/report/report.h"

namespace vram {

/// Where the run of stages ends that hold the same as the `first`.
size_t end_of_alike(const std::vector<StageBill>& stages, size_t first);

/// "Stage 3", "Stages 1–2".
std::string name_of_stages(size_t first, size_t end);

/// One stacked bar: what a GPU holds. `lines` lie on the sheet of the bill that the bar was made from.
struct Bar {
  std::string label;  // "Each GPU", "Stage 3", "Stages 1–2"
  Lines lines;
  double bytes, band;   // total, half-width of its band
  double capacity = 0;  // its own, where bars have no common one
};

inline constexpr size_t kMostBars = 64;

/// A bar a stage; neighbours that hold the same share one; of very many the fullest remain.
std::vector<Bar> training_bars(const TrainingBill& bill);

/// One bar: every GPU of a replica holds the same.
std::vector<Bar> serving_bars(const ServingBill& bill);

/// 0xRRGGBB of a line of `bill`, the same in every view, export and theme (Okabe and Ito's palette, safe for
/// colour-blind readers).
uint32_t line_rgb(Lines bill, std::string_view id);

}  // namespace vram
