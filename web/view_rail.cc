#include <algorithm>
#include <string>

#include "engine/in_order.h"
#include "web/inputs.h"
#include "web/platform.h"
#include "web/views.h"
#include "web/widgets.h"

namespace vram {
namespace {

using namespace kit;

/// Keys that a widget of their own stands for.
bool has_own_widget(Key key) { return key == Key::model || key == Key::gpu || key == Key::arch; }

std::string model_facts(const App& app) {
  const Plan& plan = app.plan();
  if (!plan.subject) return "Unknown: pick one of the list";
  if (plan.subject->nominal_parameters <= 0) return "Give its parameters, or its shape";
  std::string facts = show_count(plan.subject->nominal_parameters);
  if (plan.experts > 0 && plan.subject->active_parameters > 0)
    facts += ", " + show_count(plan.subject->active_parameters) + " active";
  if (plan.layers > 0) facts += " · " + show_grouped(plan.layers) + " layers";
  if (plan.hidden > 0) facts += " · " + write_number(plan.hidden);
  if (plan.experts > 0) return facts + " · " + write_number(plan.experts) + " experts";
  if (plan.heads > 0) facts += " · " + write_number(plan.heads) + " heads";
  if (plan.kv_heads > 0 && plan.kv_heads != plan.heads) facts += ", " + write_number(plan.kv_heads) + " KV";
  return facts;
}

std::string gpu_facts(const App& app) {
  const Plan& plan = app.plan();
  if (!plan.accelerator) return "Unknown: pick one of the list";
  if (plan.gpu_mem <= 0) return "Give its memory";
  std::string facts = show_bytes(plan.gpu_mem, units_of(plan));
  const double tflops = is_given(app, Key::gpu_tflops) ? plan.gpu_tflops : peak_tflops(*plan.accelerator, "bf16");
  if (tflops > 0) facts += " · " + show_fixed(tflops, tflops < 100 ? 1 : 0) + " TFLOPS";
  if (plan.gpu_bw >= 1000)
    facts += " · " + show_fixed(plan.gpu_bw / 1000, 2) + " TB/s";
  else if (plan.gpu_bw > 0)
    facts += " · " + show_fixed(plan.gpu_bw, 0) + " GB/s";
  return facts;
}

template <class Preset>
std::string title_of(const Preset* preset, const std::string& id) {
  if (id == "custom") return "Custom";
  return preset && !preset->name.empty() ? preset->name : id;
}

bool has_data_parallel(const Plan& plan) {
  const double dp = plan.dp();
  return plan.gpus > 1 && dp >= 1 && dp == static_cast<double>(static_cast<long long>(dp));
}

std::string dp_derivation(const Plan& plan) {
  std::string text = write_number(plan.gpus);
  for (const double by : {plan.tp, plan.pp, plan.cp})
    if (by > 1) text += " ÷ " + write_number(by);
  return text == write_number(plan.gpus) ? "" : text;
}

/// A small grey link: "12 more" or "fewer".
float more_link(App& app, const std::string& name, const std::string& closed, bool open, float x, float y) {
  const std::string label = open ? "fewer" : closed;
  const Box box{x, y, text_width(kSmall, label) + px(14), px(20)};
  const Touch touch = area(name, box);
  caret(x + px(4), y + box.h / 2, open, theme().muted);
  text(kSmall, touch.hovered ? theme().ink : theme().muted, x + px(12), y + box.h / 2, label);
  if (touch.pressed) toggle(app, name);
  return px(24);
}

struct Section {
  std::string_view name;
  std::vector<Key> keys;
};

std::vector<Section> sections_of(const App& app, Group group) {
  std::vector<Section> list;
  for (const Field& row : fields()) {
    if (row.group != group || has_own_widget(row.key)) continue;
    if (row.section == "LoRA" && app.plan().method == Method::full) continue;
    auto at =
        std::find_if(list.begin(), list.end(), [&](const Section& section) { return section.name == row.section; });
    if (at == list.end()) at = list.insert(list.end(), {row.section, {}});
    at->keys.push_back(row.key);
  }
  return list;
}

/// The sections of what is planned, with what the Plan view asks first.
std::vector<Section> sections(const App& app) {
  const bool serving = shows_serving(app);
  std::vector<Section> list = sections_of(app, serving ? Group::serving : Group::training);
  if (app.plan().view != View::plan) return list;
  Section asked{"Question", {}};
  for (const Field& row : fields())
    if (is_asked(row) && (!serving || row.key == Key::gpus_among)) asked.keys.push_back(row.key);
  list.insert(list.begin(), std::move(asked));
  return list;
}

float section_rows(App& app, const Section& section, float x, float y, float width) {
  const float top = y;
  const std::string more = "more." + std::string(section.name);
  const bool all = app.open.contains(more);
  size_t hidden = 0;
  for (const Key key : section.keys) {
    if (!is_shown(app, key)) hidden++;
    if (!all && !is_shown(app, key)) continue;
    y += field_row(app, key, x, y, width);
    const bool last_parallel = key == Key::cp;
    if (last_parallel && has_data_parallel(app.plan()))
      y += derived_row("Data parallel", write_number(app.plan().dp()), dp_derivation(app.plan()), x, y, width);
  }
  const std::string what =
      section.name == "Model" && hidden > 25 ? "shape and parts" : std::to_string(hidden) + " more";
  if (hidden > 0) y += more_link(app, more, what, all, x, y);
  return y - top;
}

/// The names of sections: pressed, the section comes as a sheet of the system's own inputs.
float section_chips(const App& app, const std::vector<Section>& list, float x, float y, float width) {
  float at = x;
  const float height = px(32), top = y;
  for (const Section& section : list) {
    const bool differs =
        std::any_of(section.keys.begin(), section.keys.end(), [&](Key key) { return is_given(app, key); });
    const float w = text_width(kSmall, section.name) + px(differs ? 32 : 20);
    if (at > x && at + w > x + width) at = x, y += height + px(6);
    const Box box{at, y, w, height};
    const Touch touch = area("section." + std::string(section.name), box);
    frame(box, theme().box, theme().rule);
    if (differs) dot(box.x + px(13), y + height / 2, 2.5f, theme().accent);
    text(kSmall, theme().ink, box.x + px(differs ? 22 : 10), y + height / 2, section.name);
    if (touch.pressed) platform::open_form(std::string(section.name));
    at += w + px(6);
  }
  return y + height - top;
}

float model_block(App& app, float x, float y, float width) {
  const float top = y;
  heading(x, y + px(10), "Model");
  y += px(24);
  const Picker picker{"model",          title_of(app.plan().subject.get(), app.plan().model),
                      model_facts(app), "from nothing; or drop a config.json",
                      app.models,       pick_model};
  y += picker_card(app, picker, x, y, width) + px(8);
  for (const Section& section : sections_of(app, Group::model)) y += section_rows(app, section, x, y, width);
  return y - top;
}

float hardware_block(App& app, bool serving, float x, float y, float width) {
  const float top = y;
  heading(x, y + px(10), "Hardware");
  y += px(24);
  const Picker picker{"gpu",          title_of(app.plan().accelerator.get(), app.plan().gpu),
                      gpu_facts(app), "from nothing",
                      app.gpus,       pick_gpu};
  y += picker_card(app, picker, x, y, width) + px(8);
  for (Section section : sections_of(app, Group::hardware)) {
    if (serving) std::erase(section.keys, Key::gpus);
    // The number of GPUs first: it is what people change.
    put_in_order(section.keys, [](Key a, Key b) { return a == Key::gpus && b != Key::gpus; });
    y += section_rows(app, section, x, y, width);
  }
  return y - top;
}

}  // namespace

float folded_rail_view(App& app, float x, float y, float width) {
  const float top = y;
  const bool serving = shows_serving(app);
  const Plan& plan = app.plan();
  if (card("model", title_of(plan.subject.get(), plan.model), model_facts(app), {x, y, width, px(kCard)}).pressed)
    platform::open_form("model");
  y += px(kCard + 8);
  const std::string count = serving ? "" : write_number(plan.gpus) + " × ";
  if (card("gpu", count + title_of(plan.accelerator.get(), plan.gpu), gpu_facts(app), {x, y, width, px(kCard)}).pressed)
    platform::open_form("hardware");
  y += px(kCard + 8);
  return y + section_chips(app, sections(app), x, y, width) - top;
}

float rail_view(App& app, float x, float y, float width) {
  const float top = y;
  y += model_block(app, x, y, width) + px(12);
  y += hardware_block(app, shows_serving(app), x, y, width) + px(12);
  for (const Section& section : sections(app)) {
    heading(x, y + px(12), section.name);
    y += px(28);
    y += section_rows(app, section, x, y, width) + px(8);
  }
  return y - top;
}

}  // namespace vram
