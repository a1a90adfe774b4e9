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
  for (const Line& line : bar.lines) {
    const float from = std::round(box.x + static_cast<float>(bytes) * per_byte);
    bytes += static_cast<double>(line.bytes);
    const Box part{from, box.y, std::round(box.x + static_cast<float>(bytes) * per_byte) - from, box.h};
    fill(part, line_color(bar.lines, line.id), 0);
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

/// The largest tells how many digits stand behind the point of all: 89.0 beside 91.7.
std::string bar_figure(double bytes, double most, Units units) {
  Scale scale = scale_of(most, units);
  if (scale.decimals == 2) scale.decimals = most < 10 * scale.unit ? 2 : most < 100 * scale.unit ? 1 : 0;
  return amount(bytes, scale) + " " + scale.name;
}

}  // namespace

float stacked_bars(const std::vector<Bar>& bars, double capacity, Units units, float x, float y, float width) {
  float label = 0, figure = 0;
  double fullest = 0;
  for (const Bar& bar : bars) fullest = std::max(fullest, bar.bytes);
  for (const Bar& bar : bars) {
    label = std::max(label, text_width(kSmall, bar.label));
    figure = std::max(figure, text_width(kSmallFigures, bar_figure(bar.bytes, fullest, units)));
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
    text_right(kSmallFigures, theme().ink, x + width, middle, bar_figure(bars[i].bytes, fullest, units));
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
