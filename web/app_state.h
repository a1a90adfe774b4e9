#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/advice/diagnose/diagnose.h"
#include "engine/advice/plan_search.h"
#include "engine/plan/plan.h"
#include "engine/plan/site.h"
#include "engine/preset_table.h"
#include "engine/report/report.h"
#include "engine/units.h"
#include "web/chart.h"

namespace vram {

/// What stands in a box without being usable: it is kept, and said.
struct Draft {
  std::string text, complaint;
};

/// The search for layouts behind the Plan view: it follows the plan, a slice between two frames.
struct Search {
  std::string question;               // share string of what is searched for, with what is asked
  std::optional<PlanSearch> running;  // empty: done, or stopped
  bool stopped = false;
  std::optional<Answer> answer;  // the last one; stands while the next is looked for
  double shown_at = 0;           // seconds; how far it is was drawn then
  int slices = 0, late = 0;      // of this search; those that kept a frame from coming in time
};

/// The page: a plan, its report, and the few things that no link needs to remember.
/// Everything else on the page is a function of `plan()` and `report`.
struct App {
  PlanReading reading;
  Report report;
  std::string share;  // with view keys: the address

  std::map<Key, Draft> drafts;
  std::set<std::string> open;        // lines and sections that are unfolded (or folded, where open is the rule)
  std::vector<std::string> notices;  // what an import had to say
  std::string copied;                // name of the button that just copied something
  std::string search;                // of the picker that is open
  LogReading log;                    // what was pasted or dropped last, and how it is named
  std::string log_name, log_size;
  std::optional<Diagnosis> diagnosis;  // where the view asks for it
  bool english = false;                // English was picked where the browser prefers another language
  Search layouts;
  Charts charts;
  Site site;                            // what stands beside this page
  std::vector<PresetRow> models, gpus;  // to pick from: the site's own, then the presets

  // The address follows: edits of one key in a row are one entry of the history, so one step back undoes them.
  bool address_due = false;    // it does not show the plan yet
  bool entry_written = false;  // the entry of the present run of edits is there: write over it
  Key edited = Key::count_;    // key of that run; count_: the next edit begins another
  unsigned changes = 0;
  // While edits of one key follow one another closely the report is a draft; the rows of findings keep their room.
  double edited_at = 0;  // seconds
  bool held = false;     // something is dragged, or typed in
  float finding_room[2] = {};

  const Plan& plan() const { return reading.plan; }
};

/// The one page there is.
App& the_app();

/// Reads a share string; unusable values stay visible as drafts.
void load(App& app, std::string_view share);

/// Works the report out anew; `hurried`: a draft of it.
void renew(App& app, bool hurried = false);

/// Adds what a draft of the report left for later.
void complete(App& app);

/// One edit of one key. An unusable value becomes a draft and changes nothing else; "" clears.
void edit(App& app, Key key, std::string_view text);
void clear(App& app, Key key);

/// What stands beside the page: its rows join the lists, and its defaults are the plan where none was asked for.
void take_site(App& app, std::string_view json);

/// Picks a preset, or a site's own: what was given beside the old one goes with it.
void pick_model(App& app, std::string_view id);
void pick_gpu(App& app, std::string_view id);

/// Takes a GPU into `gpus_among`, or out of it; "all" takes every one.
void toggle_gpu_among(App& app, std::string_view id);

/// Opens one of the worked examples.
void pick_example(App& app, std::string_view id);

/// Makes a row of the layout search the plan; what is asked, how it is shown and a given MFU stay.
void apply_row(App& app, std::string_view share);

/// Is there anything to search for, or to go on with?
bool has_search(const App& app);
/// Goes on searching for `seconds`, from the beginning where the plan is another one. True where it came to an end.
bool search_on(App& app, double seconds);
void stop_search(App& app);
void search_again(App& app);

/// Applies a share-string fragment, as a finding's `change`.
void apply_change(App& app, std::string_view change);

/// The plan as it is now becomes the one compared with.
void pin(App& app);
void unpin(App& app);
/// The pinned plan becomes this one, and this one the pinned.
void swap_plans(App& app);
/// Which half of the plans the Compare view shows, where both differ.
void compare_side(App& app, bool serving);
/// Is the page about serving: by its view, by what the Plan view asks, or by what is compared?
bool shows_serving(const App& app);
/// One key as in the pinned plan.
void take_pinned(App& app, Key key);

/// What a program printed; "" takes it away again.
void take_log(App& app, std::string_view text, double left_out = 0);

/// A link or share string, a config.json, a launch command: whatever was dropped or pasted.
/// Of a text that is too long for all of it, `left_out` bytes in its middle are missing.
void take_text(App& app, std::string_view text, double left_out = 0);

/// After a frame: a run of edits ends when its address is written and nobody types or drags any more.
void settle(App& app, bool held);

/// True where the key stands in the share string.
inline bool is_given(const App& app, Key key) { return app.plan().has(key); }

Units units_of(const Plan& plan);
/// "Llama 3.1 70B on 64 × H100 SXM5 80GB"
std::string subject_of(const App& app);

/// Unfolds what is folded and the other way round; answers whether it is in `open` now.
bool toggle(App& app, const std::string& name);

}  // namespace vram
