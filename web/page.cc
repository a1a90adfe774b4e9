#include <algorithm>

#include "engine/plan/near.h"
#include "web/platform.h"
#include "web/views.h"
#include "web/widgets.h"

namespace vram {
namespace {

using namespace kit;

constexpr float kRail = 336, kNarrow = 700;

/// In the place of a view whose part of the program is not here yet.
float waiting_view(float x, float y, float width) {
  if (platform::is_broken())
    return headline_view({"A part of the page could not be fetched. ", "Press anywhere to try again.", "", theme().bad},
                         x, y, width);
  return headline_view({"", "One moment.", "", theme().muted}, x, y, width);
}

/// What an unknown id may have meant, each to be pressed.
float meant_rows(App& app, Key key, float x, float y, float width) {
  const float top = y;
  const std::vector<PresetRow> rows = key == Key::model ? app.models : app.gpus;  // applying one replaces the plan
  std::vector<std::string_view> ids;
  for (const PresetRow& row : rows) ids.push_back(row.id);
  const std::string typed = key == Key::model ? app.plan().model : app.plan().gpu;
  for (const std::string_view id : near_matches(typed, ids)) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const PresetRow& each) { return each.id == id; });
    const std::string name(id), change = std::string(field(key).name) + "=" + name;
    y += finding_row(app, {Severity::info, name.c_str(), "Take " + std::string(row->name), change}, x, y, width);
  }
  return y - top;
}

float unanswered_view(App& app, float x, float y, float width) {
  const float top = y;
  const Key key = app.plan().subject ? Key::gpu : Key::model;
  const char* what = key == Key::gpu ? "Unknown GPU. " : "Unknown model. ";
  y += headline_view(app, {what, "Pick one of the list.", "", theme().bad}, false, x, y, width);
  return y + meant_rows(app, key, x, y, width) - top;
}

/// Verdict, bars, bill, figures; or, without an answer, what the reader had to say.
float results(App& app, float x, float y, float width) {
  const float top = y;
  y += notices_view(app, x, y, width);
  if (!app.report.answered) return y + unanswered_view(app, x, y, width) - top;
  const View view = app.plan().view;
  if (view != View::train && !platform::is_whole()) return y + waiting_view(x, y, width) - top;
  if (view == View::plan) return y + plan_view(app, x, y, width) - top;
  if (view == View::compare) return y + compare_view(app, x, y, width) - top;
  if (view == View::diagnose && app.diagnosis) return y + diagnose_view(app, x, y, width) - top;
  y += view == View::serve ? serve_view(app, x, y, width) : train_view(app, x, y, width);
  if (!app.plan().embed) y += px(16) + launch_view(app, x, y + px(16), width);
  return y - top;
}

void one_column(App& app, const Box& window) {
  begin_scroll("page", window, theme().background);
  const float margin = px(16), x = window.x + margin, width = window.w - 2 * margin;
  float y = ImGui::GetCursorScreenPos().y + px(12);
  if (!app.plan().embed) {
    y += folded_rail_view(app, x, y, width) + px(16);
  }
  y += results(app, x, y, width) + px(28);
  end_scroll(y);
}

void two_columns(App& app, const Box& window) {
  const float rail = px(kRail);
  begin_scroll("rail", {window.x, window.y, rail, window.h}, theme().panel);
  float y = ImGui::GetCursorScreenPos().y + px(12);
  y += rail_view(app, window.x + px(20), y, rail - px(40)) + px(20);
  end_scroll(y);
  fill({window.x + rail - hairline(), window.y, hairline(), window.h}, theme().rule);
  const Box main{window.x + rail, window.y, window.w - rail, window.h};
  begin_scroll("results", main, theme().background);
  const float margin = px(28), width = std::min(main.w - 2 * margin, px(1600));
  y = ImGui::GetCursorScreenPos().y + px(20);
  y += results(app, main.x + margin, y, width) + px(28);
  end_scroll(y);
}

}  // namespace

void draw_page(App& app, float width, float height) {
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize({width, height});
  ImGui::Begin("VRAM Ledger", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoScrollWithMouse);
  const float bar = header_view(app, {0, 0, width, height});
  const Box below{0, bar, width, height - bar};
  if (app.plan().embed || width < px(kNarrow))
    one_column(app, below);
  else
    two_columns(app, below);
  ImGui::End();
}

}  // namespace vram
