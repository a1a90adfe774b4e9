// What a press, a paste or a key does to the plan: of the rest of the program, as nothing of it is needed at first
// sight.
#include <algorithm>
#include <utility>

#include "engine/advice/launch.h"
#include "engine/advice/recognise.h"
#include "engine/model/config_json.h"
#include "engine/plan/measured_with.h"
#include "engine/plan/percent.h"
#include "engine/plan/texts.h"
#include "engine/preset_table.h"
#include "engine/text.h"
#include "web/app_state.h"
#include "web/platform.h"

namespace vram {
namespace {

constexpr double kDrag = 0.2;  // seconds: edits of one key that follow sooner are of one movement

void drop_messages(App& app, std::string_view name) {
  std::erase_if(app.reading.messages, [&](const Message& message) { return message.key == name; });
}

/// `of`: the key that was edited; count_ for a step of its own.
void changed(App& app, Key of) {
  const bool same = of != Key::count_ && app.edited == of;
  if (!same) app.entry_written = false;
  const double now = platform::seconds();
  const bool hurried = same && now - app.edited_at < kDrag;
  app.edited = of;
  app.edited_at = now;
  app.address_due = true;
  renew(app, hurried);
}

bool set(App& app, Key key, std::string_view text) {
  Message message;
  if (set_value(app.reading.plan, key, text, &message)) {
    app.drafts.erase(key);
    drop_messages(app, field(key).name);
    return true;
  }
  app.drafts[key] = {std::string(text), message.text};
  return false;
}

void forget(App& app, Key key) {
  clear_value(app.reading.plan, key);
  app.drafts.erase(key);
  drop_messages(app, field(key).name);
}

/// Calls use(key, value) for each pair of "a=1&b=2".
template <class Use>
void each_pair(std::string_view text, Use use) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    const size_t equals = pair.find('=');
    if (equals != std::string_view::npos) use(pair.substr(0, equals), percent_decode(pair.substr(equals + 1)));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
  }
}

void set_pairs(App& app, std::string_view share) {
  each_pair(share, [&](std::string_view name, const std::string& value) {
    if (const Field* row = find_field(name)) set(app, row->key, value);
  });
}

/// Everything of `from` but the model, on top of `plan`.
void keep_the_rest(Plan& plan, const Plan& from) {
  for (const Field& row : fields())
    if (row.group != Group::model && from.has(row.key)) set_value(plan, row.key, value_text(from, row.key), nullptr);
  plan.unknown = from.unknown;
}

void import_config(App& app, std::string_view json) {
  const ConfigReading config = read_config(json);
  app.notices.clear();
  for (const ModelFault& fault : config.faults) {
    std::string notice = fault.field;
    if (!fault.given.empty()) notice += " = " + fault.given;
    app.notices.push_back((notice.empty() ? "" : notice + ": ") + fault.text);
  }
  if (!config.ok) {
    app.notices.insert(app.notices.begin(), "This config.json was not imported; the plan is as it was.");
    return;
  }
  Plan plan = plan_of_architecture(config.architecture);
  keep_the_rest(plan, app.plan());
  app.reading = {std::move(plan), {}, true};
  app.drafts.clear();
  changed(app, Key::count_);
}

/// The flags' keys on top of the plan; what they are about is what is shown.
void import_launch(App& app, std::string_view text) {
  LaunchReading reading = read_launch(text, app.plan());
  std::string programs;
  for (const std::string& program : reading.programs) programs += (programs.empty() ? "" : ", ") + program;
  app.notices = {programs.empty()
                     ? "No launch command that is known here; the plan is as it was."
                     : "Read as " + programs + ": " + std::to_string(reading.settings.size()) + " flags set the plan."};
  for (const Message& message : reading.messages) app.notices.push_back(message.text);
  if (programs.empty()) return;
  std::string unsaid;
  for (const std::string& flag : reading.unsaid) unsaid += (unsaid.empty() ? "" : ", ") + flag;
  if (!unsaid.empty()) app.notices.push_back("No key says " + unsaid + ".");
  app.reading = {std::move(reading.plan), {}, true};
  app.drafts.clear();
  changed(app, Key::count_);
}

/// Beside the log an edit says what ran; everywhere else it changes what was measured.
void note_change(App& app, const Plan& before) {
  if (app.plan().view != View::diagnose) keep_measured_with(before, app.reading.plan);
}

}  // namespace

void edit(App& app, Key key, std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return clear(app, key);
  const Plan before = app.plan();
  if (!set(app, key, text)) return;
  note_change(app, before);
  changed(app, key);
}

void clear(App& app, Key key) {
  const Plan before = app.plan();
  forget(app, key);
  note_change(app, before);
  changed(app, key);
}

namespace {

std::vector<PresetRow> joined(const std::vector<SiteRow>& own, std::span<const PresetRow> presets) {
  std::vector<PresetRow> rows;
  for (const SiteRow& row : own) rows.push_back({row.id, row.name, row.detail, "", ""});
  rows.insert(rows.end(), presets.begin(), presets.end());
  return rows;
}

/// Sets `key` to a preset, or the keys of the site's own row of that id.
void pick(App& app, const std::vector<SiteRow>& own, Key key, std::string_view id) {
  const auto row = std::find_if(own.begin(), own.end(), [&](const SiteRow& one) { return one.id == id; });
  if (row == own.end())
    set(app, key, id);
  else
    set_pairs(app, row->share);
  changed(app, Key::count_);
}

}  // namespace

void take_site(App& app, std::string_view json) {
  app.site = read_site(json);
  app.models = joined(app.site.models, model_presets());
  app.gpus = joined(app.site.gpus, hardware_presets());
  const bool untouched = platform::read_location().empty() && write_plan(app.plan(), true) == "v=1";
  if (untouched && !app.site.defaults.empty()) load(app, app.site.defaults);
  app.notices.insert(app.notices.end(), app.site.faults.begin(), app.site.faults.end());
  app.changes++;
}

void pick_model(App& app, std::string_view id) {
  for (const Field& row : fields())
    if (row.group == Group::model && (is_given(app, row.key) || app.drafts.contains(row.key))) forget(app, row.key);
  pick(app, app.site.models, Key::model, id);
}

void pick_gpu(App& app, std::string_view id) {
  for (const Key key : {Key::gpu, Key::gpu_mem, Key::gpu_tflops, Key::gpu_bw, Key::link_bw, Key::net_bw, Key::host_mem,
                        Key::price, Key::watts, Key::node})
    if (is_given(app, key) || app.drafts.contains(key)) forget(app, key);
  const auto price = app.site.prices.find(std::string(id));
  if (price != app.site.prices.end()) set(app, Key::price, write_number(price->second));
  pick(app, app.site.gpus, Key::gpu, id);
}

void toggle_gpu_among(App& app, std::string_view id) {
  const bool all = app.plan().gpus_among == kAllGpus;
  if (id == kAllGpus || all) return edit(app, Key::gpus_among, all && id == kAllGpus ? "" : id);
  std::string list;
  bool taken = false;
  for (const std::string_view one : split(app.plan().gpus_among, ',')) {
    if (one.empty()) continue;
    taken = taken || one == id;
    if (one != id) list.append(list.empty() ? "" : ",").append(one);
  }
  if (!taken) list.append(list.empty() ? "" : ",").append(id);
  edit(app, Key::gpus_among, list);
}

void pick_example(App& app, std::string_view id) {
  for (const PresetRow& row : plan_presets()) {
    if (row.id != id) continue;
    // The one member of the file that the table does not hold; share strings have neither quotes nor backslashes.
    constexpr std::string_view kMember = "\"share\": \"";
    const size_t start = row.json.find(kMember);
    if (start == std::string_view::npos) return;
    const std::string_view rest = row.json.substr(start + kMember.size());
    load(app, rest.substr(0, rest.find('"')));
    changed(app, Key::count_);
  }
}

void apply_change(App& app, std::string_view change) {
  const Plan before = app.plan();
  set_pairs(app, change);
  keep_measured_with(before, app.reading.plan);
  changed(app, Key::count_);
}

void apply_row(App& app, std::string_view share) {
  const Plan before = app.plan();
  app.reading = read_plan(share);
  Plan& plan = app.reading.plan;
  const auto keep = [&](Key key) {
    if (before.has(key)) set_value(plan, key, value_text(before, key), nullptr);
  };
  for (const Key key : {Key::mfu, Key::question, Key::deadline, Key::budget, Key::gpus_among}) keep(key);
  for (const Field& row : fields())
    if (row.group == Group::view) keep(row.key);
  keep_measured_with(before, plan);
  app.drafts.clear();
  changed(app, Key::count_);
}

void pin(App& app) { edit(app, Key::vs, write_plan(app.plan(), false)); }

void unpin(App& app) { clear(app, Key::vs); }

void swap_plans(App& app) {
  if (!app.report.other) return;
  const Plan before = app.plan();
  app.reading = read_plan(app.report.other->share);
  Plan& plan = app.reading.plan;
  for (const Field& row : fields())
    if (row.group == Group::view && before.has(row.key)) set_value(plan, row.key, value_text(before, row.key), nullptr);
  set_value(plan, Key::vs, write_plan(before, false), nullptr);
  app.drafts.clear();
  changed(app, Key::count_);
}

void take_pinned(App& app, Key key) {
  if (!app.report.other) return;
  const Plan& other = app.report.other->plan;
  if (other.has(key)) return edit(app, key, value_text(other, key));
  clear(app, key);
}

void take_log(App& app, std::string_view text, double left_out) {
  const std::string_view first = text.substr(0, text.find('\n'));
  app.log = read_log(text);
  app.log.left_out_bytes += static_cast<size_t>(left_out);
  app.log_name = printable(first, 120);
  const auto lines = static_cast<double>(std::count(text.begin(), text.end(), '\n') + 1);
  app.log_size =
      show_grouped(lines) + (lines == 1 ? " line, " : " lines, ") + show_bytes(static_cast<double>(text.size()));
  if (left_out > 0) app.log_size += "; " + show_bytes(left_out) + " in its middle left out";
  app.notices.clear();
  set(app, Key::view, "diagnose");
  changed(app, Key::count_);
}

void take_text(App& app, std::string_view text, double left_out) {
  text = trimmed(text);
  if (left_out > 0) return take_log(app, text, left_out);
  switch (recognise(text)) {
    case Pasted::nothing:
      return;
    case Pasted::config:
      return import_config(app, text);
    case Pasted::launch:
      return import_launch(app, text);
    case Pasted::share:
      load(app, text);
      return changed(app, Key::count_);
    case Pasted::log:
      return take_log(app, text, left_out);
    default:
      if (app.plan().view == View::diagnose) return take_log(app, text);
      app.notices = {"Neither a link, nor a config.json, nor a launch command: \"" + printable(text, 60) + "\"."};
  }
}

}  // namespace vram
