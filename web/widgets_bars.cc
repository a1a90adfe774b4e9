#include <algorithm>
#include <cmath>

#include "web/widgets.h"

namespace vram {
namespace {

using namespace kit;

/// Room for a bar, and how many rows share a label, so that many stages still fit on a screen.
struct Rhythm {
  float pitch, height;
  size_t stride;
};

Rhythm rhythm_of(size_t bars) {
  const float css = bars <= 8 ? 25 : std::max(6.0f, 264 / static_cast<float>(bars));
  const float gap = css >= 20 ? 5 : css >= 12 ? 3 : 1;
  return {px(css), px(css) - px(gap), static_cast<size_t>(std::ceil(16 / css))};
}

/// "Stage 3", "Activations: 55.9 GiB, 67%": what lies under the pointer.
void explain_segment(const Bar& bar, const Line& line, const Box& box, Units units) {
  if (box.w < 1) return;
  const Touch touch = area("bar." + bar.label + "." + line.id, box, false);
  const double bytes = static_cast<double>(line.bytes);
  tooltip(touch, line.label,
          show_bytes(bytes, units) + ", " + show_fixed(bytes / bar.bytes * 100, 1) + "% of " + bar.label);
}

void draw_bar(const Bar& bar, const Box& box, double most, Units units) {
  const float per_byte = box.w / static_cast<float>(most);
  double bytes = 0;
  for (const Line& line : *bar.lines) {
    const float from = std::round(box.x + static_cast<float>(bytes) * per_byte);
    bytes += static_cast<double>(line.bytes);
    const Box part{from, box.y, std::round(box.x + static_cast<float>(bytes) * per_byte) - from, box.h};
    fill(part, line_color(*bar.lines, line.id), 0);
    explain_segment(bar, line, part, units);
  }
}

/// The band of the estimate: dark over the bar, ink beyond it.
void draw_whisker(const Bar& bar, const Box& box, double most) {
  if (bar.band <= 0) return;
  const float per_byte = box.w / static_cast<float>(most), middle = std::round(box.y + box.h / 2);
  const float left = std::round(box.x + static_cast<float>(std::max(0.0, bar.bytes - bar.band)) * per_byte);
  const float end = std::round(box.x + static_cast<float>(bar.bytes) * per_byte);
  const float right = std::round(box.x + static_cast<float>(bar.bytes + bar.band) * per_byte);
  const float line = std::max(hairline(), px(1.25f)), tall = std::min(px(8), box.h - px(2));
  const ImU32 on_bar = IM_COL32(0x14, 0x16, 0x1a, 255);
  fill({left, middle, end - left, line}, on_bar);
  fill({left, middle - tall / 2, line, tall + line}, on_bar);
  fill({end, middle, right - end, line}, theme().ink);
  fill({right - line, middle - tall / 2, line, tall + line}, theme().ink);
}

void draw_own_capacity(const Bar& bar, const Box& box, double most) {
  if (bar.capacity <= 0) return;
  const float x = std::round(box.x + box.w * static_cast<float>(bar.capacity / most)), thick = std::max(2.0f, px(2));
  fill({x - thick, box.y - px(2), thick, box.h + px(4)}, theme().ink);
}

double largest(const std::vector<Bar>& bars, double capacity) {
  double most = capacity * 1.04;
  for (const Bar& bar : bars) most = std::max({most, (bar.bytes + bar.band) * 1.02, bar.capacity * 1.04});
  return std::max(1.0, most);
}

const Line* line_of(const AreaPoint& point, std::string_view id) {
  for (const Line& line : *point.lines)
    if (line.id == id) return &line;
  return nullptr;
}

double bytes_of(const AreaPoint& point, std::string_view id) {
  const Line* line = line_of(point, id);
  return line ? static_cast<double>(line->bytes) : 0;
}

struct Plot {
  Box box;
  double most;
  size_t count;
  bool stepped;
  float y(double bytes) const { return box.bottom() - static_cast<float>(bytes / most) * box.h; }
  float left(size_t i) const {
    return box.x + box.w * static_cast<float>(i) / static_cast<float>(stepped ? count : count - 1);
  }
};

/// Everything from the axis up to `over`: bands are drawn from the top one down, each over the one before, so that no
/// seam shows between them.
void draw_band(const Plot& plot, const std::vector<double>& over, ImU32 color) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float bottom = plot.box.bottom();
  if (plot.stepped) {
    for (size_t i = 0; i < plot.count; i++) {
      const float left = std::round(plot.left(i)), right = std::round(plot.left(i + 1)) - px(2),
                  top = std::round(plot.y(over[i]));
      fill({left, top, right - left, bottom - top}, color);
    }
    return;
  }
  for (size_t i = 0; i + 1 < plot.count; i++) {
    const float left = std::round(plot.left(i)), right = std::round(plot.left(i + 1));
    list.AddQuadFilled({left, plot.y(over[i])}, {right, plot.y(over[i + 1])}, {right, bottom}, {left, bottom}, color);
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

void draw_axis(const Plot& plot, double capacity, Units units, float x) {
  const Scale scale = scale_of(plot.most, units);
  const double step = step_of(plot.most / scale.unit);
  const int decimals = step >= 1 ? 0 : step >= 0.1 ? 1 : 2;
  for (double at = 0; at * scale.unit <= plot.most; at += step)
    text(kTinyFigures, theme().muted, x, plot.y(at * scale.unit), show_fixed(at, decimals));
  const float y = std::round(plot.y(capacity));
  for (float at = plot.box.x; at < plot.box.right(); at += px(6))
    fill({at, y, std::min(px(3), plot.box.right() - at), hairline()}, theme().ink);
  const std::string size = show_bytes(capacity, units);
  const Box label{plot.box.x + px(2), y - px(15), text_width(kTinyFigures, size) + px(6), px(14)};
  fill(label, (theme().background & 0x00FFFFFF) | 0xB4000000, px(3));
  text(kTinyFigures, theme().ink, label.x + px(3), y - px(8), size);
}

void draw_ticks(const Plot& plot, const std::vector<AreaPoint>& points) {
  const float middle = plot.box.bottom() + px(11);
  for (size_t i = 0; i < points.size(); i++) {
    const std::string& tick = points[i].tick;
    if (plot.stepped) {
      text_centred(kTinyFigures, theme().muted, (plot.left(i) + plot.left(i + 1)) / 2, middle, tick);
      continue;
    }
    const float half = text_width(kTinyFigures, tick) / 2;
    const float centre = std::clamp(plot.left(i), plot.box.x + half, plot.box.right() - half);
    text_centred(kTinyFigures, theme().muted, centre, middle, tick);
  }
}

}  // namespace

float stacked_bars(const std::vector<Bar>& bars, double capacity, Units units, float x, float y, float width) {
  float label = 0, figure = 0;
  for (const Bar& bar : bars) {
    label = std::max(label, text_width(kSmall, bar.label));
    figure = std::max(figure, text_width(kSmallFigures, show_bytes(bar.bytes, units)));
  }
  label += px(16), figure += px(16);
  const double most = largest(bars, capacity);
  const float top = y + px(16), plot_x = x + label, plot_w = width - label - figure;
  const Rhythm rhythm = rhythm_of(bars.size());
  float at = top;
  for (size_t i = 0; i < bars.size(); i++) {
    const Box box{plot_x, at, plot_w, rhythm.height};
    draw_bar(bars[i], box, most, units);
    draw_whisker(bars[i], box, most);
    draw_own_capacity(bars[i], box, most);
    at += rhythm.pitch;
    if (i % rhythm.stride != 0) continue;
    const float middle = box.y + box.h / 2;
    text(kSmall, theme().muted, x, middle, bars[i].label);
    text_right(kSmallFigures, theme().ink, x + width, middle, show_bytes(bars[i].bytes, units));
  }
  if (capacity <= 0) return at - y;
  const float line_x = std::round(plot_x + plot_w * static_cast<float>(capacity / most));
  const float thick = std::max(2.0f, px(2));
  fill({line_x - thick - hairline(), top - px(3), thick + 2 * hairline(), at - top}, theme().background);
  fill({line_x - thick, top - px(3), thick, at - top + px(1)}, theme().ink);
  const std::string size = show_bytes(capacity, units);
  const float half = text_width(kTinyFigures, size) / 2;
  text_centred(kTinyFigures, theme().muted, std::min(line_x, plot_x + plot_w + figure - half), y + px(6), size);
  return at - y;
}

float area_chart(std::string_view title, const std::vector<AreaPoint>& points, bool stepped, double capacity,
                 Units units, float x, float y, float width) {
  text(kStrong, theme().ink, x, y + px(10), title);
  double most = capacity * 1.25;
  for (const AreaPoint& point : points) most = std::max(most, static_cast<double>(total_bytes(*point.lines)) * 1.05);
  const float axis = px(34);
  const Plot plot{{x + axis, y + px(28), width - axis, px(120)}, most, points.size(), stepped};
  std::vector<double> over;
  for (const AreaPoint& point : points) over.push_back(static_cast<double>(total_bytes(*point.lines)));
  const std::vector<Line>& kinds = *points.back().lines;
  for (auto kind = kinds.rbegin(); kind != kinds.rend(); ++kind) {
    draw_band(plot, over, line_color(kinds, kind->id));
    for (size_t i = 0; i < points.size(); i++) over[i] -= bytes_of(points[i], kind->id);
  }
  draw_axis(plot, capacity, units, x);
  draw_ticks(plot, points);
  return px(28 + 120 + 22);
}

namespace {

/// Tiles side by side, so that the last row is as full as can be.
int tiles_across(size_t count, float width) {
  const int n = static_cast<int>(count), most = std::max(2, static_cast<int>(width / px(84)));
  if (n <= std::min(4, most)) return n;
  for (const int across : {4, 3, 2})
    if (across <= most && n % across == 0) return across;
  return std::min(3, most);
}

}  // namespace

float tiles(const std::string& name, const std::vector<Tile>& list, float x, float y, float width) {
  if (list.empty()) return 0;
  const int across = tiles_across(list.size(), width);
  const int rows = (static_cast<int>(list.size()) + across - 1) / across;
  const float w = width / static_cast<float>(across), room = w - px(18), line = px(16);
  bool two_lines = false;
  for (const Tile& tile : list) two_lines = two_lines || text_width(kTiny, tile.label) > room;
  const float h = px(two_lines ? 72 : 56);
  frame({x, y, width, h * static_cast<float>(rows)}, theme().box, theme().rule);
  for (size_t i = 0; i < list.size(); i++) {
    const int column = static_cast<int>(i) % across, row = static_cast<int>(i) / across;
    const Box box{std::round(x + w * static_cast<float>(column)), y + h * static_cast<float>(row), w, h};
    if (column > 0) fill({box.x, box.y, hairline(), h}, theme().rule);
    if (row > 0 && column == 0) rule(x, box.y, width, theme().rule);
    const Touch touch = area(name + "." + list[i].label, box, false);
    text(kTitle, theme().ink, box.x + px(10), box.y + px(20), fitted(kTitle, list[i].figure, w - px(12)));
    runs(box.x + px(10), box.y + px(31), room, line, {{kTiny, theme().muted, list[i].label, ""}}, nullptr);
    if (!list[i].help.empty()) tooltip(touch, list[i].label, list[i].help);
  }
  return h * static_cast<float>(rows);
}

}  // namespace vram
