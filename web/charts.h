#pragma once

#include <string>
#include <vector>

#include "engine/report/bars.h"
#include "engine/report/report.h"
#include "web/chart.h"

// What there is to draw of a plan beyond its bill. Other plans are worked out for it: made when the plan changes.
namespace vram {

std::vector<Chart> train_charts(const Report& report);
std::vector<Chart> serve_charts(const Report& report);

/// "8k" for 8,192 tokens, "2,560" for what is no whole number of Ki.
std::string short_tokens(double tokens);
std::string dollars(double usd);

}  // namespace vram
