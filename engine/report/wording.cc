#include <algorithm>
#include <cmath>

#include "engine/report/figures.h"
#include "engine/units.h"

namespace vram {
namespace {

bool in_decimal_units(const Report& report) { return report.plan.units == UnitsChoice::gb; }

struct PhasePlace {
  std::string_view phase, place;
};
constexpr PhasePlace kPlaces[] = {{"load", "while the model is loaded"},
                                  {"forward", "in the forward pass"},
                                  {"loss", "in the loss"},
                                  {"backward", "in the backward pass"},
                                  {"reduce", "while gradients are reduced"},
                                  {"optimizer", "in the optimizer step"}};

}  // namespace

std::string shown(const Report& report, double bytes) {
  return show_bytes(bytes, in_decimal_units(report) ? Units::gb : Units::gib);
}

const char* amount_unit(const Report& report) { return in_decimal_units(report) ? "GB" : "GiB"; }

std::string amount(const Report& report, double bytes) {
  constexpr double kLeastShown = 0.005;
  const double value = bytes / (in_decimal_units(report) ? kGB : kGiB);
  if (bytes == 0) return "0";
  if (value > 0 && value < kLeastShown) return "< 0.01";
  const std::string text = show_fixed(value, 2);
  const size_t point = text.size() - 3;
  return show_grouped(std::trunc(std::strtod(text.substr(0, point).c_str(), nullptr))) + text.substr(point);
}

std::string flops_text(double flops) {
  struct Scale {
    double unit;
    const char* name;
  };
  constexpr Scale kScales[] = {
      {1e18, " EFLOPs"}, {1e15, " PFLOPs"}, {1e12, " TFLOPs"}, {1e9, " GFLOPs"}, {1e6, " MFLOPs"}};
  constexpr double kMostScaled = 1e21;
  for (const Scale& scale : kScales) {
    const double value = flops / scale.unit;
    if (value >= 1 && flops < kMostScaled) return show_fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0) + scale.name;
  }
  return show_count(flops) + " FLOPs";
}

std::string usd_text(double usd) {
  constexpr double kMostGrouped = 1e6;
  return (usd < kMostGrouped ? show_grouped(usd) : show_count(usd)) + " USD";
}

std::string percent(double share) {
  const double value = share * 100;
  std::string text = show_fixed(value, value < 9.95 ? 2 : 1);
  while (text.find('.') != std::string::npos && (text.back() == '0' || text.back() == '.')) text.pop_back();
  return text + "%";
}

std::string requests_count(double count) {
  const double floored = std::floor(count * 10) / 10;  // never more than there is room for
  return count >= 100 || floored == std::floor(floored) ? show_grouped(std::floor(count)) : show_fixed(floored, 1);
}

std::string phase_place(std::string_view phase) {
  for (const PhasePlace& row : kPlaces) {
    if (row.phase == phase) return std::string(row.place);
  }
  return "in phase " + std::string(phase);
}

std::string report_title(const Report& report) {
  const Plan& plan = report.plan;
  const std::string model = plan.subject->name.empty() ? plan.model : plan.subject->name;
  const std::string gpu = plan.accelerator->name.empty() ? plan.gpu : plan.accelerator->name;
  const std::string title = model + " on ";
  const double gpus = plan.view == View::serve ? plan.serve_gpus * plan.replicas : plan.gpus;
  return gpus > 1 ? title + show_grouped(gpus) + " × " + gpu : title + gpu;
}

std::vector<Message> own_messages(const Report& report) {
  std::vector<Message> own;
  for (const Message& message : report.messages) {
    const bool repeated = std::any_of(report.findings.begin(), report.findings.end(),
                                      [&](const Finding& finding) { return finding.text == message.text; });
    if (!repeated) own.push_back(message);
  }
  return own;
}

}  // namespace vram
