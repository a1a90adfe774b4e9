#pragma once

#include <span>
#include <string>

#include "engine/report/bars.h"
#include "engine/report/report.h"
#include "web/chart.h"

// What there is to draw of a plan beyond its bill. Other plans are worked out for it: made when the plan changes.
namespace vram {

using ChartMaker = Chart (*)(const Report& report);
std::span<const ChartMaker> train_charts();
std::span<const ChartMaker> serve_charts();

/// "8k" for 8,192 tokens, "2,560" for what is no whole number of Ki.
std::string short_tokens(double tokens);
std::string dollars(double usd);

}  // namespace vram
