#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/line.h"
#include "engine/preset_table.h"
#include "engine/report/bars.h"
#include "engine/units.h"
#include "web/app_state.h"
#include "web/charts.h"
#include "web/kit.h"

// The page's own widgets. Each draws itself at a place and answers with its height (or with what was done to it).
namespace vram {

/// A key of the plan: its label (with a dot where it differs from the default; pressing that resets it), its box with
/// unit or derivation inside, and under it what is wrong with what stands there.
float field_row(App& app, Key key, float x, float y, float width);

/// A row that only shows what follows from others.
float derived_row(std::string_view label, std::string_view value, std::string_view derivation, float x, float y,
                  float width);

/// The picked model or GPU with its key facts; pressed, the list to pick from.
struct Picker {
  std::string_view name;           // "model"
  std::string title, facts, hint;  // hint: what "Custom" does; "" = there is no such choice
  std::span<const PresetRow> rows;
  void (*pick)(App&, std::string_view id);
  bool several = false;  // the list stays, and pressed again a row is taken back
};
/// The list alone, under `anchor`; opened by the caller with ImGui::OpenPopup(name). `current`: what is picked, of
/// several with commas.
void picker_popup(App& app, const Picker& picker, const kit::Box& anchor, std::string_view current);
/// Two lines of what was picked, to be pressed.
inline constexpr float kCard = 52;  // px
kit::Touch card(std::string_view name, const std::string& title, const std::string& facts, const kit::Box& box);
float picker_card(App& app, const Picker& picker, float x, float y, float width);

/// A list of lines as a financial statement; lines unfold to their parts, parts to formula and source.
struct Bill {
  std::string name;  // of its areas
  Lines lines;
  Units units = Units::gib;
  std::string total_label, total_note;
  struct Check {
    std::string label, note;
    double bytes = 0;
  };
  std::vector<Check> checks;  // napkin figures underneath
  std::string_view color_of;  // one colour for all lines; "" = each its own
};
float bill(App& app, const Bill& bill, float x, float y, float width);

/// Bars against one capacity.
float stacked_bars(const std::vector<Bar>& bars, double capacity, Units units, float x, float y, float width);

/// A chart with what stands under the pointer; `change`: what was pressed makes of the plan.
float chart_view(const Chart& chart, float x, float y, float width, std::string* change);
/// Several, one below the other; pressed, they change the plan.
float charts_view(App& app, ChartSet& set, std::span<const ChartMaker> makers, float x, float y, float width);

struct Tile {
  std::string figure, label, help;
};
float tiles(const std::string& name, const std::vector<Tile>& list, float x, float y, float width);

ImU32 line_color(Lines bill, std::string_view id);

/// Long runs of digits in groups: "24147263488 B" -> "24,147,263,488 B".
std::string with_groups(std::string_view text);

/// Bytes of a bill, exact below 2^53.
inline double whole(uint64_t bytes) { return static_cast<double>(bytes); }

/// Bytes as a plain number in the unit of a bill whose largest figure is `largest`: all amounts of it align.
struct Scale {
  double unit;
  const char* name;
  int decimals;
};
Scale scale_of(double largest, Units units);
std::string amount(double bytes, const Scale& scale);

}  // namespace vram
