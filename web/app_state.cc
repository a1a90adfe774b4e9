#include "web/app_state.h"

#include "engine/advice/question.h"
#include "engine/plan/made.h"
#include "engine/preset_table.h"
#include "engine/report/compare.h"
#include "web/platform.h"

namespace vram {
void load(App& app, std::string_view share) {
  app.reading = read_plan(share);
  app.drafts.clear();
  app.notices.clear();
  app.english = share.find("lang=en") != std::string_view::npos;
  for (const Message& message : app.reading.messages) {
    const Field* row = find_field(message.key);
    if (row && !message.given.empty() && !app.plan().has(row->key))
      app.drafts[row->key] = {message.given, message.text};
  }
  renew(app);
  if (app.report.other && platform::is_whole() && compares_serving(app.report)) compare_side(app, true);
  app.edited = Key::count_;
  app.address_due = false;
}

void renew(App& app, bool hurried) {
  if (!app.plan().made.empty() && !made_of(app.plan())) clear_value(app.reading.plan, Key::made);  // of another plan
  app.reading.answerable = app.plan().subject && app.plan().accelerator;
  app.report = hurried ? draft_report(app.reading, app.report) : report(app.reading);
  app.diagnosis.reset();
  if (app.report.answered && app.plan().view == View::diagnose && platform::is_whole())
    app.diagnosis = diagnose(app.plan(), app.log);
  app.share = write_plan(app.plan(), true);
  app.changes++;
}

void complete(App& app) {
  if (!app.report.is_draft) return;
  finish(app.report);
  platform::request_frames(3);
}

App& the_app() {
  static App app = [] {
    App fresh;
    fresh.models.assign(model_presets().begin(), model_presets().end());
    fresh.gpus.assign(hardware_presets().begin(), hardware_presets().end());
    return fresh;
  }();
  return app;
}

void settle(App& app, bool held) {
  if (!held && !app.address_due) app.edited = Key::count_;
  if (!held && app.held) complete(app);
  app.held = held;
}

namespace {
constexpr const char* kServingCompared = "compare.serving.side";  // in `open`
}

void compare_side(App& app, bool serving) {
  if (app.open.contains(kServingCompared) != serving) toggle(app, kServingCompared);
}

bool shows_serving(const App& app) {
  const Plan& plan = app.plan();
  if (plan.view == View::compare) return app.open.contains(kServingCompared);
  if (plan.view == View::diagnose) return app.diagnosis && app.diagnosis->serving;
  return plan.view == View::serve || (plan.view == View::plan && asks_about_serving(plan));
}

Units units_of(const Plan& plan) { return plan.units == UnitsChoice::gb ? Units::gb : Units::gib; }

std::string subject_of(const App& app) {
  const Plan& plan = app.plan();
  const bool serving = shows_serving(app);
  const double gpus = serving ? plan.serve_gpus : plan.gpus;
  std::string text = plan.subject && !plan.subject->name.empty() ? plan.subject->name : plan.model;
  text += " on ";
  if (gpus != 1) text += show_grouped(gpus) + " × ";
  return text + (plan.accelerator && !plan.accelerator->name.empty() ? plan.accelerator->name : plan.gpu);
}

bool toggle(App& app, const std::string& name) {
  if (app.open.erase(name)) return false;
  app.open.insert(name);
  return true;
}

}  // namespace vram
