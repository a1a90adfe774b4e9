#pragma once

#include <string>
#include <vector>

#include "engine/report/report.h"

namespace vram {

/// A figure as the faces for people show it: what it is, how much, and what belongs beside it.
struct Figure {
  std::string label, value, remark;
};

// Figures that do not apply are not in the lists.
std::vector<Figure> training_figures(const Report& report);
std::vector<Figure> training_napkin_figures(const Report& report);
std::vector<Figure> compute_figure_list(const Report& report);
std::vector<Figure> serving_figures(const Report& report);
std::vector<Figure> serving_napkin_figures(const Report& report);

/// "Llama 3.1 70B on 64 x H100 SXM5 80 GB".
std::string report_title(const Report& report);

/// "83.9 GiB", in the units the plan asks for.
std::string shown(const Report& report, double bytes);

/// For a column of amounts under one unit: "1,120.00", "0.25", "< 0.01", "0".
std::string amount(const Report& report, double bytes);
const char* amount_unit(const Report& report);  // "GiB", "GB"

/// "46.1 GFLOPs", "8.40e23 FLOPs".
std::string flops_text(double flops);

/// "1,234 USD", "100 M USD".
std::string usd_text(double usd);

/// 0.425 -> "42.5%".
std::string percent(double share);

/// Whole below the point where decimals tell nothing: "655", "12.4".
std::string requests_count(double count);

/// "in the backward pass".
std::string phase_place(std::string_view phase);

/// Messages that no finding repeats.
std::vector<Message> own_messages(const Report& report);

}  // namespace vram
