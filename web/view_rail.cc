#include <algorithm>
#include <array>
#include <string>

#include "web/views.h"
#include "web/widgets.h"

namespace vram {
namespace {

using namespace kit;

/// What a first look needs; the rest of a section stands behind "more", unless it differs from its default.
constexpr std::array kEssential = {
    Key::gpus,       Key::method,    Key::framework, Key::precision,   Key::optimizer,   Key::tp,
    Key::pp,         Key::cp,        Key::zero,      Key::seq,         Key::micro_batch, Key::global_batch,
    Key::recompute,  Key::attention, Key::loss,      Key::offload,     Key::lora_rank,   Key::lora_targets,
    Key::base,       Key::tokens,    Key::mfu,       Key::engine,      Key::weights,     Key::kv,
    Key::serve_gpus, Key::prompt,    Key::output,    Key::concurrency, Key::max_len,     Key::utilization,
    Key::derate};

/// What a model or GPU made from nothing needs first.
constexpr std::array kModelFromNothing = {Key::params,   Key::layers, Key::hidden, Key::heads,
                                          Key::kv_heads, Key::ffn,    Key::vocab,  Key::gated};
constexpr std::array kGpuFromNothing = {Key::gpu_mem, Key::gpu_tflops, Key::gpu_bw};

template <class List>
bool holds(const List& list, Key key) {
  return std::find(list.begin(), list.end(), key) != list.end();
}

/// What the Plan view asks beside its question.
constexpr std::array kAsked = {Key::deadline, Key::budget, Key::gpus_among};
constexpr std::array kTargets = {Key::qps, Key::ttft, Key::tpot};

bool is_essential(const App& app, Key key) {
  const Plan& plan = app.plan();
  if (plan.view == View::plan && (holds(kAsked, key) || holds(kTargets, key))) return true;
  if (key == Key::ep) return plan.experts > 0;
  if (plan.model == "custom" && !is_given(app, Key::arch) && holds(kModelFromNothing, key)) return true;
  if (plan.gpu == "custom" && holds(kGpuFromNothing, key)) return true;
  return holds(kEssential, key);
}

bool is_shown(const App& app, Key key) {
  return is_essential(app, key) || is_given(app, key) || app.drafts.contains(key);
}

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
  return text;
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

Section asked_section(bool serving) {
  if (serving) return {"Among", {Key::gpus_among}};
  return {"Limits", {kAsked.begin(), kAsked.end()}};
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

/// The names of sections, small, to open one by one: narrow pages show the answer first.
float section_chips(App& app, const std::vector<Section>& list, float x, float y, float width) {
  float at = x;
  const float height = px(30);
  for (const Section& section : list) {
    const std::string name = "section." + std::string(section.name);
    const bool open = app.open.contains(name);
    const float w = text_width(kSmall, section.name) + px(20);
    if (at > x && at + w > x + width) at = x, y += height + px(6);
    const Box box{at, y, w, height};
    const Touch touch = area(name, box);
    frame(box, open ? mix(theme().box, theme().accent, 0.12f) : theme().box, open ? theme().accent : theme().rule);
    text_centred(kSmall, open ? theme().accent : theme().muted, box.x + w / 2, y + height / 2, section.name);
    if (touch.pressed) toggle(app, name);
    at += w + px(6);
  }
  return y + height;
}

float model_block(App& app, bool folds, float x, float y, float width) {
  const float top = y;
  heading(x, y + px(10), "Model");
  y += px(24);
  const Picker picker{"model",          title_of(app.plan().subject.get(), app.plan().model),
                      model_facts(app), folds ? "from nothing" : "from nothing; or drop a config.json",
                      model_presets(),  pick_model};
  y += picker_card(app, picker, x, y, width) + px(8);
  for (const Section& section : sections_of(app, Group::model)) y += section_rows(app, section, x, y, width);
  return y - top;
}

float hardware_block(App& app, bool serving, float x, float y, float width) {
  const float top = y;
  heading(x, y + px(10), "Hardware");
  y += px(24);
  const Picker picker{"gpu",
                      title_of(app.plan().accelerator.get(), app.plan().gpu),
                      gpu_facts(app),
                      "from nothing",
                      hardware_presets(),
                      pick_gpu};
  y += picker_card(app, picker, x, y, width) + px(8);
  for (Section section : sections_of(app, Group::hardware)) {
    if (serving) std::erase(section.keys, Key::gpus);
    // The number of GPUs first: it is what people change.
    std::stable_partition(section.keys.begin(), section.keys.end(), [](Key key) { return key == Key::gpus; });
    y += section_rows(app, section, x, y, width);
  }
  return y - top;
}

}  // namespace

float rail_view(App& app, float x, float y, float width, bool folds) {
  const float top = y;
  const bool serving = shows_serving(app);
  y += model_block(app, folds, x, y, width) + px(12);
  y += hardware_block(app, serving, x, y, width) + px(12);
  std::vector<Section> list = sections_of(app, serving ? Group::serving : Group::training);
  if (app.plan().view == View::plan) list.insert(list.begin(), asked_section(serving));
  if (folds) y = section_chips(app, list, x, y, width) + px(12);
  for (const Section& section : list) {
    if (folds && !app.open.contains("section." + std::string(section.name))) continue;
    heading(x, y + px(12), section.name);
    y += px(28);
    y += section_rows(app, section, x, y, width) + px(8);
  }
  return y - top;
}

}  // namespace vram
