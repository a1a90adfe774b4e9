#include <algorithm>
#include <cmath>
#include <string_view>

#include "web/views.h"
#include "web/widgets.h"

namespace vram {
namespace {

using namespace kit;

struct Word {
  const char* text;
  ImU32 color;
};

Word word_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::fits:
      return {"Fits. ", theme().good};
    case Verdict::tight:
      return {"Tight. ", theme().warn};
    case Verdict::exceeds:
      return {"Does not fit. ", theme().bad};
    case Verdict::invalid:
      break;
  }
  return {"Not possible. ", theme().bad};
}

const char* moment(std::string_view phase) {
  if (phase == "load") return ", while the model is loaded";
  if (phase == "forward") return ", in the forward pass";
  if (phase == "loss") return ", at the loss";
  if (phase == "backward") return ", in the backward pass";
  if (phase == "reduce") return ", while gradients are reduced";
  if (phase == "optimizer") return ", in the optimizer step";
  return "";
}

/// "83.9 of 79.6 GiB": both in one unit.
std::string of_capacity(double bytes, double capacity, Units units) {
  const Scale scale = scale_of(std::max(bytes, capacity), units);
  const auto short_amount = [&](double value) { return amount(value, {scale.unit, scale.name, 1}); };
  return short_amount(bytes) + " of " + short_amount(capacity) + " " + scale.name;
}

std::string requests(double count) { return counted(std::floor(count), "request", "requests"); }

bool about_serving(const Finding& finding) {
  const std::string_view id = finding.id;
  if (id.starts_with("serving") || id == "request_beyond_positions" || id == "memory_is_not_enough") return true;
  const Field* row = find_field(std::string_view(finding.change).substr(0, finding.change.find('=')));
  return row && row->group == Group::serving;
}

/// The verdict's own findings repeat the sentence above them.
bool is_headline(const Finding& finding) {
  const std::string_view id = finding.id;
  return id == "training_exceeds" || id == "training_tight" || id == "training_invalid" || id == "serving_exceeds" ||
         id == "serving_tight" || id == "serving_invalid";
}

ImU32 color_of(Severity severity) {
  return severity == Severity::error ? theme().bad : severity == Severity::warning ? theme().warn : theme().muted;
}

/// "gpus: 30 GPUs cannot ..." as a sentence: without the key, or with its label where the rest needs a subject.
std::string sentence_of(const Message& fault) {
  const std::string head = fault.key + ": ";
  if (fault.key.empty() || !fault.text.starts_with(head)) return fault.text;
  const std::string rest = fault.text.substr(head.size());
  const bool has_subject = !rest.empty() && rest[0] >= '0' && rest[0] <= '9';
  const Field* row = find_field(fault.key);
  return has_subject || !row ? rest : std::string(row->label) + ": " + rest;
}

/// The faults of a bill are its headline: said once.
bool is_fault(const App& app, const Message& message) {
  const auto says_it = [&](const Message& fault) { return fault.text == message.text; };
  const auto& faults = shows_serving(app) ? app.report.serving.faults : app.report.training.faults;
  return std::any_of(faults.begin(), faults.end(), says_it);
}

bool is_note(const Finding& finding) { return finding.severity == Severity::info && finding.change.empty(); }

/// Findings of a view above its bars, or below its bill: there the notes, and what narrow pages leave for later.
float finding_rows(App& app, bool serving, bool below, float x, float y, float width) {
  const float top = y;
  const ImVec2 page = ImGui::GetIO().DisplaySize;
  const bool small_frame = app.plan().embed && page.y < px(320);
  const size_t most_above = small_frame ? 0 : page.x < px(700) ? 2 : 8;  // fixes; the picture comes first
  const std::vector<Finding> findings = app.report.findings;             // applying one replaces the report
  const bool draft = app.report.is_draft;
  float& room = app.finding_room[below];
  for (const bool fixes : {true, false}) {
    size_t seen = 0;
    for (const Finding& finding : findings) {
      if (about_serving(finding) != serving || is_headline(finding) || finding.change.empty() == fixes) continue;
      const bool lower = small_frame || (fixes ? seen++ >= most_above : is_note(finding));
      if (lower == below) y += finding_row(app, finding, x, y, width);
    }
  }
  if (!draft) return room = y - top;
  const Verdict verdict = serving ? app.report.serving.verdict : app.report.training.verdict;
  const bool lacks = verdict == Verdict::exceeds || verdict == Verdict::tight;
  if (lacks && !below && y - top + px(20) <= room)
    paragraph(kSmall, theme().muted, x + px(12), y, width - px(12), "What would help is said when the drag ends.");
  return std::max(y - top, room);
}

float message_row(const Message& message, float x, float y, float width) {
  const float line = px(20);
  dot(x + px(3), y + line / 2, 2.5f, theme().warn);
  return runs(x + px(12), y, width - px(12), line, {{kSmall, theme().ink, message.text, ""}}, nullptr);
}

}  // namespace

Headline training_headline(const App& app) {
  const TrainingBill& bill = app.report.training;
  const Word word = word_of(bill.verdict);
  Headline headline{word.text, "", "", word.color};
  if (bill.verdict == Verdict::invalid) {
    headline.rest = bill.faults.empty() ? "This plan cannot exist." : sentence_of(bill.faults[0]);
    return headline;
  }
  const Units units = units_of(app.plan());
  headline.rest = of_capacity(static_cast<double>(bill.device_bytes), static_cast<double>(bill.capacity_bytes), units);
  if (bill.stages.size() > 1) headline.rest += " on stage " + std::to_string(bill.stage);
  headline.rest += moment(bill.phase);
  const double gap = static_cast<double>(bill.headroom_bytes);
  headline.margin = show_bytes(std::fabs(gap), units) + (gap < 0 ? " short" : " free") + ", ± " +
                    show_bytes(static_cast<double>(bill.band_bytes), units) + ".";
  return headline;
}

Headline serving_headline(const App& app) {
  const ServingBill& bill = app.report.serving;
  const Word word = word_of(bill.verdict);
  Headline headline{word.text, "", "", word.color};
  if (bill.verdict == Verdict::invalid) {
    headline.rest = bill.faults.empty() ? "This server cannot exist." : sentence_of(bill.faults[0]);
    return headline;
  }
  const Units units = units_of(app.plan());
  const double most = bill.max_concurrency.value_or(0), promised = bill.promised_concurrency.value_or(0);
  if (most >= 1) {
    headline.rest = requests(promised) + " at a time can be promised, " + show_grouped(app.plan().concurrency) +
                    (app.plan().concurrency == 1 ? " is asked" : " are asked");
  } else if (bill.kv_budget_bytes_per_gpu.value_or(0) > 0) {
    headline.rest = "What the weights leave is too little for one request";
  } else {
    headline.rest = "The weights leave no room for a request";
  }
  headline.margin = "A replica holds " + requests(most) + " of " + show_grouped(app.plan().prompt) + " + " +
                    show_grouped(app.plan().output) + " tokens";
  if (bill.kv_bytes_per_request)
    headline.margin += ", " + show_bytes(static_cast<double>(*bill.kv_bytes_per_request), units) + " each";
  headline.margin += ".";
  return headline;
}

float finding_row(App& app, const Finding& finding, float x, float y, float width) {
  const float line = px(20);
  std::vector<Run> list;
  if (finding.change.empty()) {
    list.push_back({kSmall, theme().muted, finding.text, ""});
  } else {
    const size_t colon = std::min({finding.text.find(": "), finding.text.find(", which "), finding.text.size()});
    list.push_back({kSmall, theme().accent, finding.text.substr(0, colon), "fix." + std::string(finding.id)});
    list.push_back({kSmall, theme().muted, finding.text.substr(colon), ""});
  }
  dot(x + px(3), y + line / 2, 2.5f, finding.change.empty() ? color_of(finding.severity) : theme().accent);
  int pressed = -1;
  const std::string change = finding.change;
  const float height = runs(x + px(12), y, width - px(12), line, list, &pressed);
  if (pressed == 0 && !change.empty()) apply_change(app, change);
  return height;
}

float headline_view(const Headline& headline, float x, float y, float width) {
  const float top = y;
  const Type type = width < px(420) ? Type{Face::semibold, 19} : kVerdict;
  y += runs(x, y, width, px(type.size * 1.3f),
            {{type, headline.color, headline.word, ""}, {type, theme().ink, headline.rest, ""}}, nullptr);
  y += px(4);
  if (!headline.margin.empty()) y += paragraph(kText, theme().muted, x, y, width, headline.margin) + px(4);
  return y - top;
}

float headline_view(App& app, const Headline& headline, bool serving, float x, float y, float width) {
  const float top = y;
  y += headline_view(headline, x, y, width);
  const auto& faults = serving ? app.report.serving.faults : app.report.training.faults;
  for (size_t i = 1; i < faults.size(); i++) y += message_row(faults[i], x, y, width);
  return y + finding_rows(app, serving, false, x, y, width) - top;
}

float notes_view(App& app, bool serving, float x, float y, float width) {
  return finding_rows(app, serving, true, x, y, width);
}

float notices_view(App& app, float x, float y, float width) {
  const float top = y;
  for (const std::string& notice : app.notices) y += message_row({"", "", notice}, x, y, width - px(70));
  if (!app.notices.empty() && button("dismiss", {x + width - px(64), top, px(64), px(24)}, "Dismiss", false))
    app.notices.clear();
  for (const Message& message : app.report.messages)
    if (!is_fault(app, message)) y += message_row(message, x, y, width);
  return y > top ? y - top + px(12) : 0;
}

}  // namespace vram
