#include "engine/report/answer.h"
#include "engine/report/compare.h"
#include "engine/report/diagnosis.h"
#include "imgui.h"
#include "web/app_state.h"
#include "web/form.h"
#include "web/kit.h"
#include "web/language.h"
#include "web/platform.h"
#include "web/views.h"

namespace vram {
namespace {

constexpr int kAddressDelay = 350, kDocumentDelay = 250, kAnnounceDelay = 1000;  // ms after the last edit
constexpr int kRetryDelay = 5000;                                                // where the browser limits writes

constexpr size_t kDocumentRows = 12;
constexpr double kPatience = 10;  // seconds of a search that nobody sees
// Seconds: between two frames, of a search in one of them, and how long it may go without showing how far it is.
constexpr double kFrame = 0.016, kSlice = 0.008, kProgress = 0.25;

bool is_dark(const App& app) {
  const Theme theme = app.plan().theme;
  return theme == Theme::dark || (theme == Theme::auto_ && platform::system_prefers_dark());
}

/// The link's language, else what was picked, else the browser's.
bool wants_chinese(const App& app) {
  return app.plan().lang == Language::zh || (!app.english && platform::browser_language().starts_with("zh"));
}

bool language_asked = false;

void follow_language(const App& app) {
  const bool chinese = wants_chinese(app);
  if (chinese && !language_asked) platform::fetch_language("zh");
  language_asked = language_asked || chinese;
  language::speak(chinese);
  platform::set_document_language(language::is_english() ? "en" : "zh-CN");
}

void write_document(App& app) {
  follow_language(app);
  complete(app);
  std::string notices;
  for (const std::string& notice : app.notices) notices += "- " + notice + "\n";
  const bool answers = app.plan().view == View::plan && app.layouts.answer;
  const bool compares = app.plan().view == View::compare && app.report.other && platform::is_whole();
  const std::string answer = answers ? answer_markdown(app.plan(), *app.layouts.answer, kDocumentRows, "") : "";
  const std::string comparison = compares ? comparison_markdown(app.report) + "\n" : "";
  platform::write_document(notices + answer + comparison +
                           (app.diagnosis ? diagnosis_markdown(*app.diagnosis) : report_markdown(app.report)));
  platform::renew_form();
  platform::set_document_theme(is_dark(app));
  platform::set_title(subject_of(app) + " – VRAM Ledger");
}

void announce(const App& app) {
  if (app.diagnosis && !app.diagnosis->findings.empty())
    return platform::announce(app.diagnosis->findings.front().text);
  if (app.plan().view == View::plan) {
    if (app.layouts.answer) platform::announce(answer_sentence(app.plan(), *app.layouts.answer));
    return;
  }
  if (app.plan().view == View::compare && app.report.other && platform::is_whole()) {
    const ComparisonSentence sentence = comparison_sentence(app.report, shows_serving(app));
    return platform::announce(sentence.word + sentence.rest);
  }
  const std::vector<std::string> sentences = headline_sentences(app.report);
  const size_t which = app.plan().view == View::serve ? 2 : 0;
  platform::announce(which < sentences.size() ? sentences[which] : "No estimate: see the messages.");
}

void write_address(App& app) {
  if (!app.address_due) return;
  if (!platform::write_location(app.share, !app.entry_written))
    return platform::call_later(platform::kTimerAddress, kRetryDelay);
  app.entry_written = true;
  app.address_due = false;
}

void schedule_writing(const App& app) {
  if (app.address_due) platform::call_later(platform::kTimerAddress, kAddressDelay);
  platform::call_later(platform::kTimerDocument, kDocumentDelay);
  platform::call_later(platform::kTimerAnnounce, kAnnounceDelay);
}

/// Without the rest of the program input leads nowhere.
void refuse_input() {
  ImGuiIO& io = ImGui::GetIO();
  io.ClearEventsQueue();
  io.ClearInputKeys();
  io.ClearInputMouse();
}

void frame() {
  App& app = the_app();
  platform::Viewport viewport;
  if (!platform::begin_frame(&viewport)) return;
  if (platform::is_broken()) refuse_input();
  kit::begin_frame(viewport.density, is_dark(app));
  ImGui::NewFrame();
  const unsigned before = app.changes;
  language::speak(wants_chinese(app));
  draw_page(app, viewport.width, viewport.height);
  platform::end_frame(kit::theme().background);
  const bool dragging =
      ImGui::IsAnyItemActive() && !ImGui::IsMouseClicked(ImGuiMouseButton_Left);  // a press begins anew
  settle(app, ImGui::GetIO().WantTextInput || dragging);
  if (app.changes == before) return;
  schedule_writing(app);
  platform::request_frames(3);
}

/// A slice of the search. Only now and then a frame shows how far it is.
void work() {
  App& app = the_app();
  if (app.plan().view != View::plan || !platform::is_whole() || !has_search(app)) return;
  Search& search = app.layouts;
  const double begun = platform::seconds();
  const bool done = search_on(app, kSlice);
  const double now = platform::seconds();
  search.slices++;
  if (now - begun > kFrame) search.late++;
  if (done || now - search.shown_at > kProgress) {
    search.shown_at = now;
    platform::request_frames(done ? 3 : 1);
  }
  if (done) return schedule_writing(app);
  platform::request_work();
}

void location_changed() {
  App& app = the_app();
  load(app, platform::read_location());
  schedule_writing(app);
  platform::request_frames(3);
}

void text_arrived(std::string_view text, double left_out) {
  App& app = the_app();
  take_text(app, text, left_out);
  schedule_writing(app);
  platform::request_frames(3);
}

void timer(int which) {
  App& app = the_app();
  if (which == platform::kTimerAddress) write_address(app);
  if (which == platform::kTimerDocument) write_document(app);
  if (which == platform::kTimerAnnounce) announce(app);
  if (which == platform::kTimerCopied) app.copied.clear();
  if (which == platform::kTimerCopied || which == platform::kTimerWake) platform::request_frames(3);
}

void edited(std::string_view key, std::string_view value) {
  App& app = the_app();
  const Field* row = find_field(key);
  if (!row) return;
  if (row->key == Key::model)
    pick_model(app, value);
  else if (row->key == Key::gpu)
    pick_gpu(app, value);
  else
    edit(app, row->key, value);
  schedule_writing(app);
  platform::request_frames(3);
}

void site_arrived(std::string_view json) {
  take_site(the_app(), json);
  schedule_writing(the_app());
  platform::request_frames(3);
}

/// Until the next change of the plan, which asks again.
void language_missing() {
  static bool said = false;
  language_asked = false;
  if (!said) the_app().notices.push_back("The Chinese texts could not be fetched: the page stays English.");
  said = true;
  platform::request_frames(3);
}

void language_arrived(std::string_view table, std::span<const unsigned char> font) {
  if (table.empty()) return language_missing();
  language::learn(table);
  if (ImGui::GetCurrentContext()) kit::add_script(font);
  write_document(the_app());
  announce(the_app());
  platform::request_frames(3);
}

void rest_arrived() {
  App& app = the_app();
  static bool was_broken = false;
  const bool is_broken = platform::is_broken();
  if (is_broken)
    app.notices = {"A part of the page could not be fetched. Press again when the network is back."};
  else if (was_broken)
    app.notices.clear();
  if (app.plan().view != View::train) renew(app);
  if (is_broken || was_broken || app.plan().view != View::train) schedule_writing(app);
  was_broken = is_broken;
  platform::request_frames(3);
}

std::string form() { return form_json(the_app()); }

bool takes_text(float x, float y) {
  for (const kit::Mark& mark : kit::marks())
    if (mark.takes_text && mark.box.holds(x, y)) return true;
  return false;
}

}  // namespace
}  // namespace vram

/// The document's text comes first: it stands whether or not there is WebGL.
int main() {
  using namespace vram;
  platform::listen({frame, work, location_changed, text_arrived, timer, edited, language_arrived, site_arrived,
                    rest_arrived, form, takes_text});
  load(the_app(), platform::read_location());
  write_document(the_app());
  announce(the_app());
  if (!platform::start_graphics()) {
    if (the_app().plan().view != View::plan || !platform::is_whole()) return 0;
    search_on(the_app(), kPatience);
    write_document(the_app());
    return 0;
  }
  kit::load_fonts();
  platform::request_frames(3);
  return 0;
}
