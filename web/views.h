#pragma once

#include <string>
#include <vector>

#include "web/app_state.h"
#include "web/kit.h"

// Views: functions of the plan and its report that may change the plan. Each draws into a column that begins at
// (x, y) and is `width` wide, and answers with its height.
namespace vram {

/// The whole page.
void draw_page(App& app, float width, float height);

float header_view(App& app, const kit::Box& window);  // answers the height of the bar
float rail_view(App& app, float x, float y, float width);
/// A narrow page's: what is planned in a few lines, which open the document's form.
float folded_rail_view(App& app, float x, float y, float width);
float train_view(App& app, float x, float y, float width);
float serve_view(App& app, float x, float y, float width);
float plan_view(App& app, float x, float y, float width);
float compare_view(App& app, float x, float y, float width);
/// The way from the plan to a launch script, and back.
float launch_view(App& app, float x, float y, float width);
float diagnose_view(App& app, float x, float y, float width);

/// The address of the plan.
std::string link_of(const App& app);
/// What leaves the page: link, frame, tables, picture, data. Opened with ImGui::OpenPopup("share").
void share_popup(App& app, const kit::Box& anchor);

/// The answer as a sentence: a word that carries the verdict, and the rest.
struct Headline {
  std::string word, rest, margin;
  ImU32 color = 0;
};
Headline training_headline(const App& app);
Headline serving_headline(const App& app);
float headline_view(const Headline& headline, float x, float y, float width);
/// A finding: what it would change is a link that does it; the rest says what comes of it.
float finding_row(App& app, const Finding& finding, float x, float y, float width);
float headline_view(App& app, const Headline& headline, bool serving, float x, float y, float width);
/// What is good to know beside it.
float notes_view(App& app, bool serving, float x, float y, float width);
/// What an import or the reader had to say, where anything was.
float notices_view(App& app, float x, float y, float width);

}  // namespace vram
