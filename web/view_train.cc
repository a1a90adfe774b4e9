#include <algorithm>
#include <cmath>
#include <string_view>

#include "web/charts.h"
#include "web/views.h"
#include "web/widgets.h"

namespace vram {
namespace {

using namespace kit;

std::vector<Bill::Check> napkin_of(const TrainingNapkin& napkin) {
  std::vector<Bill::Check> checks;
  if (!napkin.total_bytes) return checks;
  std::string note;
  if (napkin.gpus) note = show_grouped(whole(*napkin.gpus)) + (*napkin.gpus == 1 ? " GPU: " : " GPUs: ");
  note += "16 B × parameters";
  if (napkin.activations_bytes) note += " + (34·s·b·h + 5·a·s²·b) × layers";
  note += " + 10 GB";
  checks.push_back({"On a napkin, undivided", note, whole(*napkin.total_bytes)});
  return checks;
}

/// Its product, or the names of its parts.
std::string how_it_comes(const Line& line) {
  std::string parts;
  for (const Line& child : line.children) parts += (parts.empty() ? "" : " + ") + std::string(child.label);
  return parts.empty() ? with_groups(formula(line)) : parts;
}

/// What each GPU sends in a step: name, how it comes about, bytes, time.
float traffic_view(const App& app, float x, float y, float width) {
  const std::vector<Traffic>& traffic = app.report.compute.traffic;
  if (traffic.empty()) return 0;
  const float top = y, right = x + width, amount_right = right - px(64);
  const float how = width < px(480) ? amount_right : x + std::clamp(std::round(width * 0.31f), px(168), px(240));
  text(kStrong, theme().ink, x, y + px(10), "What each GPU sends in a step");
  y += px(24);
  for (const Traffic& item : traffic) {
    const float middle = y + px(13);
    const std::string bytes = show_bytes(whole(item.line.bytes), units_of(app.plan()));
    const std::string product = how_it_comes(item.line), link = std::string("over ") + item.link + ": ";
    const float room = amount_right - text_width(kFigures, bytes) - px(12) - how;
    const Touch touch = area(std::string("traffic.") + item.line.id, {x, y, width, px(26)}, false);
    text(kText, theme().ink, x, middle, fitted(kText, item.line.label, how - x - px(8)));
    if (room > px(60)) text(kSmall, theme().muted, how, middle, fitted(kSmall, link + product, room));
    text_right(kFigures, theme().ink, amount_right, middle, bytes);
    text_right(kFigures, theme().muted, right, middle, show_duration(item.seconds));
    const double hidden = item.seconds - item.exposed_seconds;
    tooltip(touch, item.line.label,
            link + product + ". " +
                (hidden > 0 ? show_duration(hidden) + " of it behind arithmetic." : "None of it behind arithmetic."));
    y += px(26);
    rule(x, y, width, theme().rule);
  }
  return y - top + px(20);
}

/// What remains to be said of a plan that cannot exist.
std::vector<Tile> napkin_tiles(const App& app) {
  const TrainingNapkin& napkin = app.report.training.napkin;
  const Units units = units_of(app.plan());
  std::vector<Tile> list;
  if (!app.plan().subject || app.plan().subject->nominal_parameters <= 0) return list;
  const auto add = [&](const std::optional<uint64_t>& bytes, const char* label, const char* help) {
    if (bytes) list.push_back({show_bytes(whole(*bytes), units), label, help});
  };
  add(napkin.states_bytes, "states, on a napkin", "16 B a parameter, for one whole copy of the model.");
  add(napkin.activations_bytes, "activations", "(34·s·b·h + 5·a·s²·b) × layers, for one micro-batch.");
  add(napkin.total_bytes, "with buffers", "10 GB of buffers on top.");
  if (napkin.gpus)
    list.push_back({show_grouped(whole(*napkin.gpus)), "GPUs at least", "Total ÷ the memory on the box."});
  return list;
}

float train_bill(App& app, float x, float y, float width) {
  const TrainingBill& training = app.report.training;
  const Units units = units_of(app.plan());
  for (const Phase& phase : training.phases)
    if (app.charts.phase == phase.id)
      return bill(app, {"line", phase.lines, units, std::string("Allocated: ") + phase.id, "", {}, ""}, x, y, width);
  Bill statement{"line", training.lines, units, "On the device", "", napkin_of(training.napkin), ""};
  statement.total_note = "allocated " + show_bytes(whole(training.allocated_bytes), units) + " · reserved " +
                         show_bytes(whole(training.reserved_bytes), units);
  return bill(app, statement, x, y, width);
}

void add(std::vector<Tile>& list, const std::optional<double>& value, std::string (*show)(double), std::string label,
         std::string help) {
  if (value) list.push_back({show(*value), std::move(label), std::move(help)});
}

std::string percent(double share) { return show_fixed(share * 100, share < 0.1 ? 1 : 0) + " %"; }

std::vector<Tile> compute_tiles(const App& app) {
  const ComputeFigures& c = app.report.compute;
  std::vector<Tile> list;
  const bool estimated = std::string_view(c.mfu_source) == "estimated";
  std::string why = "Share of the peak at the compute precision that trains the model.";
  if (estimated && c.mfu_band) why += " ± " + show_fixed(*c.mfu_band * 100, 0) + " points: " + mfu_reason(c) + ".";
  add(list, c.mfu, percent, estimated ? "MFU, estimated" : "MFU", why);
  constexpr double kNarrowDays = 1000;  // "1044 days" is wider than a tile
  const bool many = c.days.value_or(0) >= kNarrowDays;
  add(
      list, c.days,
      [](double days) { return days < kNarrowDays ? show_duration(days * 86400) : show_grouped(std::round(days)); },
      many ? "days of the run" : "the whole run", "Tokens ÷ tokens a second ÷ goodput.");
  add(list, c.gpu_hours, show_count, "GPU-hours", "");
  add(list, c.usd, dollars, "at $ " + show_fixed(app.plan().price, 2) + " a GPU-hour", "");
  add(list, c.step_seconds, show_duration, "a step", "One optimizer step over the global batch.");
  add(list, c.tokens_per_second, show_count, "tokens/s", "All GPUs together.");
  add(list, c.step_flops, show_count, "FLOPs a step", "Model FLOPs by the convention of the plan.");
  add(list, c.model_flops, show_count, "FLOPs the run", "Model FLOPs of all tokens.");
  add(list, c.hfu, percent, "HFU", "The same with recomputation counted.");
  add(list, c.kwh, show_count, "kWh", "GPUs and nodes under load, times PUE.");
  if (list.size() > 4) list.resize(list.size() >= 8 ? 8 : list.size() - list.size() % 4);
  return list;
}

float figures_column(App& app, float x, float y, float width) {
  const float top = y;
  y += tiles("tile", compute_tiles(app), x, y, width) + px(20);
  y += charts_view(app, app.charts.train, train_charts(), x, y, width);
  return y - top;
}

}  // namespace

float train_view(App& app, float x, float y, float width) {
  const float top = y;
  y += headline_view(app, training_headline(app), false, x, y, width) + px(4);
  if (app.report.training.lines.empty()) {
    y += px(12) + tiles("napkin", napkin_tiles(app), x, y + px(8), std::min(width, px(528)));
    return y + notes_view(app, false, x, y, width) - top;
  }
  const double capacity = whole(app.report.training.capacity_bytes);
  const std::vector<Bar> bars = training_bars(app.report.training);
  y += stacked_bars(bars, capacity, units_of(app.plan()), x, y, width) + px(12);
  if (bars.size() == kMostBars)
    y += paragraph(kSmall, theme().muted, x, y - px(8), width,
                   "The fullest of " + std::to_string(app.report.training.stages.size()) + " stages.");
  const float gap = px(28);
  if (width < px(760)) {
    y += train_bill(app, x, y, width) + px(20);
    y += figures_column(app, x, y, width);
    y += traffic_view(app, x, y, width);
    return y + notes_view(app, false, x, y, width) - top;
  }
  const float left = std::round((width - gap) * 0.6f);
  float bottom = y + train_bill(app, x, y, left) + px(20);
  bottom += traffic_view(app, x, bottom, left);
  bottom += notes_view(app, false, x, bottom, left);
  return std::max(bottom, y + figures_column(app, x + left + gap, y, width - left - gap)) - top;
}

}  // namespace vram
