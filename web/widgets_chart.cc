#include <algorithm>
#include <cmath>

#include "web/platform.h"
#include "web/widgets.h"

namespace vram {
namespace {

using namespace kit;

ImU32 color_of(uint32_t rgb) { return IM_COL32(rgb >> 16, rgb >> 8 & 0xFF, rgb & 0xFF, 255); }

double number(double value) { return std::isnan(value) ? 0 : value; }

/// Of series that stand one upon the other.
double stack(const Chart& chart, size_t point) {
  double sum = 0;
  for (const Chart::Series& series : chart.series) sum += number(series.values[point]);
  return sum;
}

std::string shown(const Chart& chart, double value) {
  if (std::isnan(value)) return "–";
  if (chart.measure == Chart::Measure::bytes) return show_bytes(value, chart.units);
  if (chart.measure == Chart::Measure::days) return show_duration(value * 86400);
  return show_grouped(std::floor(value));
}

bool is_stepped(const Chart& chart) { return chart.kind == Chart::Kind::steps || chart.kind == Chart::Kind::columns; }

/// Where values and points lie on the screen.
struct Plot {
  const Chart& chart;
  Box box;
  double least, most;  // least: of a logarithmic axis

  float y(double value) const {
    double share = value / most;
    if (chart.kind == Chart::Kind::lines) share = std::log(std::max(value, least) / least) / std::log(most / least);
    return box.bottom() - static_cast<float>(std::clamp(share, 0.0, 1.0)) * box.h;
  }
  float x(size_t i) const {
    return box.x + box.w * static_cast<float>(i < chart.points.size() ? chart.points[i].at : 1);
  }
  float middle(size_t i) const { return is_stepped(chart) ? (x(i) + x(i + 1)) / 2 : x(i); }
};

/// The power of ten at a value of 1 or more, or next below it.
double decade_of(double value) {
  double decade = 1;
  while (decade * 10 <= value) decade *= 10;
  return decade;
}

Plot plot_of(const Chart& chart, const Box& box) {
  double most = chart.capacity * 1.25, least = 1e300;
  const bool lines = chart.kind == Chart::Kind::lines;
  for (size_t i = 0; i < chart.points.size(); i++) {
    if (!lines) most = std::max(most, stack(chart, i) * 1.08);
    for (const Chart::Series& series : chart.series) {
      if (lines) most = std::max(most, number(series.values[i]) * 1.5);
      if (series.values[i] >= 1) least = std::min(least, series.values[i]);
    }
  }
  most = std::max(most, lines ? 10.0 : 1e-9);
  return {chart, box, decade_of(std::min(least, most / 2)), most};
}

/// Everything from the axis up to `over`: bands are drawn from the top one down, each over the one before, so that no
/// seam shows between them.
void draw_band(const Plot& plot, const std::vector<double>& over, ImU32 color) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float bottom = plot.box.bottom(), gap = plot.chart.kind == Chart::Kind::columns ? px(2) : 0;
  const size_t count = over.size();
  for (size_t i = 0, next = 0; is_stepped(plot.chart) && i < count; i = next) {
    const float top = std::round(plot.y(over[i]));
    do next++;
    while (next < count && gap == 0 && std::round(plot.y(over[next])) == top);  // as one
    const float left = std::round(plot.x(i)), right = std::round(plot.x(next)) - gap;
    if (top < bottom) fill({left, top, right - left, bottom - top}, color);
  }
  for (size_t i = 0; !is_stepped(plot.chart) && i + 1 < count; i++) {
    const float left = std::round(plot.x(i)), right = std::round(plot.x(i + 1));
    list.AddQuadFilled({left, plot.y(over[i])}, {right, plot.y(over[i + 1])}, {right, bottom}, {left, bottom}, color);
  }
}

void draw_stack(const Plot& plot) {
  const Chart& chart = plot.chart;
  std::vector<double> over;
  for (size_t i = 0; i < chart.points.size(); i++) over.push_back(stack(chart, i));
  for (auto series = chart.series.rbegin(); series != chart.series.rend(); ++series) {
    if (series->values == std::vector<double>(series->values.size(), 0)) continue;
    draw_band(plot, over, color_of(series->rgb));
    for (size_t i = 0; i < over.size(); i++) over[i] -= number(series->values[i]);
  }
}

void draw_lines(const Plot& plot) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (const Chart::Series& series : plot.chart.series) {
    for (size_t i = 0; i < series.values.size(); i++)
      if (!std::isnan(series.values[i])) list.PathLineTo({plot.x(i), plot.y(series.values[i])});
    list.PathStroke(color_of(series.rgb), 0, std::max(1.5f, px(2)));
  }
}

/// About five steps of 1, 2 or 5.
double step_of(double most) {
  const double rough = most / 5;
  double step = 1;
  while (step * 10 <= rough) step *= 10;
  while (step > rough) step /= 10;
  return step * (rough / step > 5 ? 10 : rough / step > 2 ? 5 : 2);
}

/// What a step of the axis counts: its size, its name and its decimals.
Scale scale_of(const Plot& plot) {
  if (plot.chart.measure == Chart::Measure::bytes) return scale_of(plot.most, plot.chart.units);
  if (plot.chart.measure == Chart::Measure::days && plot.most < 1) return {1.0 / 24, "h", 1};
  return {1, plot.chart.measure == Chart::Measure::days ? "days" : "", 0};
}

void draw_value_axis(const Plot& plot, float x) {
  if (plot.chart.kind == Chart::Kind::lines) {
    for (double at = plot.least; at <= plot.most; at *= 10) {
      const float y = std::round(plot.y(at));
      text(kTinyFigures, theme().muted, x, y, at < 1e4 ? show_grouped(at) : show_count(at));
      fill({plot.box.x, y, plot.box.w, hairline()}, theme().rule);
    }
    return;
  }
  const Scale scale = scale_of(plot);
  const double step = step_of(plot.most / scale.unit);
  const int decimals = step >= 1 ? 0 : step >= 0.1 ? 1 : 2;
  for (double at = 0; at * scale.unit <= plot.most; at += step) {
    const float y = std::round(plot.y(at * scale.unit));
    text(kTinyFigures, theme().muted, x, y, decimals > 0 ? show_fixed(at, decimals) : show_grouped(at));
    fill({plot.box.x, y, plot.box.w, hairline()}, theme().rule);
  }
}

void draw_capacity(const Plot& plot) {
  if (plot.chart.capacity <= 0) return;
  const float y = std::round(plot.y(plot.chart.capacity));
  for (float at = plot.box.x; at < plot.box.right(); at += px(6))
    fill({at, y, std::min(px(3), plot.box.right() - at), hairline()}, theme().ink);
  const std::string size = show_bytes(plot.chart.capacity, plot.chart.units);
  const Box label{plot.box.x + px(2), y - px(15), text_width(kTinyFigures, size) + px(6), px(14)};
  fill(label, (theme().background & 0x00FFFFFF) | 0xB4000000, px(3));
  text(kTinyFigures, theme().ink, label.x + px(3), y - px(8), size);
}

/// Below the axis; the plan's own comes first, others where there is room.
void draw_ticks(const Plot& plot) {
  const Chart& chart = plot.chart;
  const float middle = plot.box.bottom() + px(11);
  std::vector<std::pair<float, float>> taken;
  const auto draw = [&](size_t i) {
    const Chart::Point& point = chart.points[i];
    if (point.tick.empty()) return;
    const float half = std::max(text_width(kTinyFigures, point.tick), text_width(kTinyFigures, point.note)) / 2;
    const float centre =
        std::clamp(plot.middle(i), plot.box.x + half, std::max(plot.box.x + half, plot.box.right() - half));
    for (const auto& [from, to] : taken)
      if (centre - half - px(6) < to && centre + half + px(6) > from) return;
    taken.emplace_back(centre - half, centre + half);
    const bool own = static_cast<int>(i) == chart.own;
    text_centred(kTinyFigures, own ? theme().ink : theme().muted, centre, middle, point.tick);
    if (!point.note.empty()) text_centred(kTinyFigures, theme().muted, centre, middle + px(14), point.note);
  };
  if (chart.own >= 0) draw(static_cast<size_t>(chart.own));
  for (size_t i = 0; i < chart.points.size(); i++) draw(i);
}

/// The plan's own point: a notch on the axis, on lines dots.
void draw_own(const Plot& plot) {
  const Chart& chart = plot.chart;
  if (chart.own < 0) return;
  const size_t own = static_cast<size_t>(chart.own);
  const float x = plot.middle(own);
  fill({std::round(x) - px(1), plot.box.bottom(), px(2), px(4)}, theme().ink);
  for (const Chart::Series& series : chart.series) {
    if (chart.kind != Chart::Kind::lines || !series.change.empty() || std::isnan(series.values[own])) continue;
    dot(x, plot.y(series.values[own]), 5, theme().background);
    dot(x, plot.y(series.values[own]), 3.5f, color_of(series.rgb));
  }
}

float draw_legend(const Chart& chart, float x, float y, float width) {
  if (!chart.legend) return 0;
  const float left = x;
  float middle = y + px(9);
  for (const Chart::Series& series : chart.series) {
    const float w = px(15) + text_width(kSmall, series.label);
    if (x > left && x + w > left + width) x = left, middle += px(18);
    fill({x, middle - px(4), px(9), px(9)}, color_of(series.rgb), px(2));
    text(kSmall, theme().muted, x + px(15), middle, series.label);
    x += w + px(14);
  }
  return middle + px(13) - y;
}

size_t point_at(const Plot& plot, float x) {
  size_t best = 0;
  for (size_t i = 1; i < plot.chart.points.size(); i++) {
    const bool nearer = is_stepped(plot.chart) ? plot.x(i) <= x : std::abs(plot.x(i) - x) < std::abs(plot.x(best) - x);
    if (nearer) best = i;
  }
  return best;
}

/// What stands in the tooltip: a row a series, the highest first, their sum, and more.
struct TipRow {
  std::string label, value;
  uint32_t rgb = 0;
  bool swatch = false;
};

std::vector<TipRow> tip_rows(const Chart& chart, size_t point) {
  std::vector<TipRow> rows;
  const bool lines = chart.kind == Chart::Kind::lines;
  for (const Chart::Series& series : chart.series) {
    const double value = series.values[point];
    if (lines || value > 0) rows.push_back({series.label, shown(chart, value), series.rgb, true});
  }
  if (!lines) std::reverse(rows.begin(), rows.end());
  if (!lines && rows.size() > 1) rows.push_back({"Total", shown(chart, stack(chart, point))});
  for (const auto& [label, value] : chart.points[point].facts) rows.push_back({label, value});
  return rows;
}

void draw_tip_row(const TipRow& row, float x, float middle, float width) {
  if (row.swatch) fill({x, middle - px(4), px(9), px(9)}, color_of(row.rgb), px(2));
  text(kSmall, row.swatch ? theme().muted : theme().ink, x + (row.swatch ? px(15) : 0), middle, row.label);
  text_right(kSmallFigures, theme().ink, x + width, middle, row.value);
  mark("tip." + row.label + " " + row.value, {x, middle - px(9), width, px(18)});
}

const char* invitation(const Chart& chart) {
  return chart.phases ? "Press for the bill of this phase" : "Press to make it the plan";
}

/// Above the picture, so that it hides none of it; below where there is no room.
void place_tip(const Plot& plot, float pointer, float width, float height) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float x = std::clamp(pointer - width / 2, px(4), std::max(px(4), screen.x - width - px(4)));
  const float above = plot.box.y - height - px(6);
  ImGui::SetNextWindowPos({std::round(x), above > 0 ? above : plot.box.bottom() + px(20)});
}

void draw_tip(const Plot& plot, size_t point, float pointer, bool can_press) {
  const Chart& chart = plot.chart;
  const std::vector<TipRow> rows = tip_rows(chart, point);
  const std::string& head = chart.points[point].head;
  float width = std::max(px(150), text_width(kStrong, head));
  for (const TipRow& row : rows)
    width = std::max(width, px(15 + 18) + text_width(kSmall, row.label) + text_width(kSmallFigures, row.value));
  if (can_press) width = std::max(width, text_width(kTiny, invitation(chart)));
  const float height = px(20) + px(18) * static_cast<float>(rows.size() + (can_press ? 1 : 0));
  place_tip(plot, pointer, width + px(24), height + px(16));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(12), px(8)));
  ImGui::BeginTooltip();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  text(kStrong, theme().ink, at.x, at.y + px(9), head);
  float y = at.y + px(20);
  for (const TipRow& row : rows) draw_tip_row(row, at.x, y + px(9), width), y += px(18);
  if (can_press) text(kTiny, theme().muted, at.x, y + px(10), invitation(chart));
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, height});
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
}

void draw_cross_hair(const Plot& plot, size_t point, float pointer) {
  const Chart& chart = plot.chart;
  const float left = plot.x(point), right = plot.x(point + 1);
  if (chart.kind == Chart::Kind::columns)
    fill({left, plot.box.y, right - left - px(2), plot.box.h}, (theme().ink & 0x00FFFFFF) | 0x18000000);
  else
    fill({std::round(chart.kind == Chart::Kind::steps ? pointer : left), plot.box.y, hairline(), plot.box.h},
         theme().ink);
  if (chart.kind != Chart::Kind::lines) return;
  for (const Chart::Series& series : chart.series)
    if (!std::isnan(series.values[point])) dot(left, plot.y(series.values[point]), 3, color_of(series.rgb));
}

/// The line nearest to the pointer.
const Chart::Series& series_at(const Plot& plot, size_t point, float y) {
  const auto away = [&](const Chart::Series& series) { return std::abs(plot.y(number(series.values[point])) - y); };
  const std::vector<Chart::Series>& all = plot.chart.series;
  return *std::min_element(all.begin(), all.end(), [&](const auto& a, const auto& b) { return away(a) < away(b); });
}

/// What pressing here does to the plan.
std::string change_at(const Plot& plot, size_t point, float y) {
  std::string change = plot.chart.points[point].change;
  if (plot.chart.kind != Chart::Kind::lines) return change;
  const std::string& picked = series_at(plot, point, y).change;
  return change.empty() || picked.empty() ? change + picked : change + "&" + picked;
}

/// Where one looks: under the pointer; or where a finger tapped, until it taps elsewhere. Its second tap presses.
struct Look {
  bool there = false, pressed = false;
  float x = 0, y = 0;
};

Look look_at(const Plot& plot, const Touch& touch) {
  static std::string tapped;  // the picture, and where in it, as shares
  static ImVec2 tap;
  const ImGuiIO& io = ImGui::GetIO();
  const bool inside = touch.hovered && plot.box.holds(io.MousePos.x, io.MousePos.y);
  const bool finger = io.MouseSource == ImGuiMouseSource_TouchScreen;
  const auto tapped_at = [&] {
    return Look{true, false, plot.box.x + tap.x * plot.box.w, plot.box.y + tap.y * plot.box.h};
  };
  if (!finger) return {inside, touch.pressed, io.MousePos.x, io.MousePos.y};
  if (ImGui::IsMouseClicked(0) && !inside && tapped == plot.chart.name) tapped.clear();
  if (!touch.pressed || !inside) return tapped == plot.chart.name ? tapped_at() : Look{};
  const bool again = tapped == plot.chart.name && point_at(plot, tapped_at().x) == point_at(plot, io.MousePos.x);
  tapped = again ? "" : plot.chart.name;
  tap = {(io.MousePos.x - plot.box.x) / plot.box.w, (io.MousePos.y - plot.box.y) / plot.box.h};
  return {true, again, io.MousePos.x, io.MousePos.y};
}

/// By the keyboard: left and right go from point to point, on lines up and down from one to the next; Enter presses.
Look look_by_keys(const Plot& plot, const Touch& touch) {
  static std::string on;  // the picture, and where in it
  static int point = 0, series = 0;
  const Chart& chart = plot.chart;
  if (!touch.focused) return {};
  const bool lines = chart.kind == Chart::Kind::lines;
  const Arrows arrows = take_arrows(lines);
  if (on != chart.name) on = chart.name, point = std::max(chart.own, 0), series = 0;
  point = std::clamp(point + arrows.right, 0, static_cast<int>(chart.points.size()) - 1);
  series = std::clamp(series + arrows.down, 0, static_cast<int>(chart.series.size()) - 1);
  const double value = chart.series[static_cast<size_t>(series)].values[static_cast<size_t>(point)];
  return {true, touch.pressed, plot.middle(static_cast<size_t>(point)), plot.y(number(value))};
}

/// The phases of a training step, to choose from: what each has allocated.
float phase_links(const App& app, float x, float y, float width, std::string* picked) {
  const TrainingBill& training = app.report.training;
  std::vector<Run> list;
  for (const Phase& phase : training.phases) {
    const bool chosen = app.charts.phase == phase.id;
    if (!list.empty()) list.push_back({kSmall, theme().muted, "  ", ""});
    list.push_back({chosen ? kStrong : kSmall, chosen ? theme().accent : theme().muted, phase.id,
                    std::string("phase.") + phase.id});
  }
  int pressed = -1;
  const float height = runs(x, y, width, px(20), list, &pressed);
  if (pressed >= 0) *picked = list[static_cast<size_t>(pressed)].text;
  return height;
}

}  // namespace

float chart_view(const Chart& chart, float x, float y, float width, std::string* change) {
  const float top = y, axis = px(38);
  text(kStrong, theme().ink, x, y + px(10), fitted(kStrong, chart.title, width - px(40)));
  y += px(28);
  y += draw_legend(chart, x, y, width);
  const Box box{x + axis, y, width - axis, px(120)};
  const bool notes = std::any_of(chart.points.begin(), chart.points.end(),
                                 [](const Chart::Point& point) { return !point.note.empty(); });
  const float height = box.bottom() + px(notes ? 36 : 22) - top;
  const Touch touch = area(chart.name, box, false);
  if (!in_sight(top, top + height)) return height;
  const Plot plot = plot_of(chart, box);
  if (chart.measure != Chart::Measure::requests)
    text_right(kTiny, theme().muted, x + width, top + px(10), scale_of(plot).name);
  draw_value_axis(plot, x);
  if (chart.kind == Chart::Kind::lines)
    draw_lines(plot);
  else
    draw_stack(plot);
  draw_capacity(plot);
  draw_own(plot);
  draw_ticks(plot);
  const Look keys = look_by_keys(plot, touch);
  const Look look = keys.there ? keys : look_at(plot, touch);
  if (!look.there) return height;
  const size_t point = point_at(plot, look.x);
  const std::string here = change_at(plot, point, look.y);
  if (!here.empty() && touch.hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  draw_cross_hair(plot, point, look.x);
  draw_tip(plot, point, look.x, !here.empty());
  if (look.pressed) *change = here;
  return height;
}

namespace {

constexpr unsigned kFarBehind = 8;  // changes: further than a drag leaves a picture, as another view was shown

/// Of pictures in sight that show another plan the oldest is made anew, and the others in the next frames.
void renew_charts(const App& app, ChartSet& set, std::span<const ChartMaker> makers) {
  const auto make = [&](size_t i) { set.charts[i].chart = makers[i](app.report), set.charts[i].at = app.changes; };
  const bool first = set.charts.empty();
  set.charts.resize(makers.size());
  size_t oldest = makers.size();
  for (size_t i = 0; i < makers.size(); i++) {
    const ChartSet::Made& made = set.charts[i];
    if (first || (made.in_sight && app.changes - made.at > kFarBehind)) make(i);
    if (made.in_sight && made.at != app.changes && (oldest == makers.size() || made.at < set.charts[oldest].at))
      oldest = i;
  }
  if (oldest < makers.size()) make(oldest), platform::request_frames(2);
}

}  // namespace

float charts_view(App& app, ChartSet& set, std::span<const ChartMaker> makers, float x, float y, float width) {
  renew_charts(app, set, makers);
  const float top = y;
  std::string change;
  for (ChartSet::Made& made : set.charts) {
    const Chart& chart = made.chart;
    const float begun = y;
    std::string picked;
    if (!chart.empty()) y += chart_view(chart, x, y, width, &picked);
    made.in_sight = in_sight(begun, std::max(y, begun + 1));
    if (chart.empty()) continue;
    if (chart.phases) y += phase_links(app, x + px(38), y, width - px(38), &picked);
    if (chart.phases && !picked.empty()) app.charts.phase = picked == app.charts.phase ? "" : picked;
    if (!chart.phases) change += picked;
    y += px(20);
  }
  if (!change.empty()) apply_change(app, change);
  return y - top;
}

}  // namespace vram
