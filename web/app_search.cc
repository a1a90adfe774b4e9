#include "engine/advice/question.h"
#include "web/app_state.h"
#include "web/platform.h"

namespace vram {
namespace {

std::string question_of(const Plan& plan) {
  return (asks_about_serving(plan) ? "serve " : "train ") + write_plan(plan, false);
}

}  // namespace

bool has_search(const App& app) {
  return app.report.answered && (app.layouts.running || app.layouts.question != question_of(app.plan()));
}

bool search_on(App& app, double seconds) {
  if (!app.report.answered) return false;
  Search& search = app.layouts;
  std::string question = question_of(app.plan());
  if (search.question != question) {
    search.question = std::move(question);
    search.stopped = false;
    search.slices = search.late = 0;
    search.running.emplace(app.plan());
  }
  if (!search.running) return false;
  const double begun = platform::seconds();
  while (search.running->step(1)) {  // half a millisecond at most, natively
    if (platform::seconds() - begun >= seconds) return false;
  }
  search.answer = search.running->answer();
  search.running.reset();
  app.changes++;
  return true;
}

void stop_search(App& app) {
  Search& search = app.layouts;
  if (!search.running) return;
  search.answer = search.running->answer();
  search.running.reset();
  search.stopped = true;
  app.changes++;
}

void search_again(App& app) { app.layouts.question.clear(); }

}  // namespace vram
