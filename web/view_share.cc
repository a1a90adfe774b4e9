#include <algorithm>
#include <array>

#include "engine/report/diagnosis.h"
#include "engine/report/made.h"
#include "web/platform.h"
#include "web/views.h"
#include "web/widgets.h"

namespace vram {
namespace {

using namespace kit;

constexpr float kRow = 44;

/// What a reader takes away: a text to paste, or a file to keep.
struct Offer {
  const char *name, *label, *help;
  std::string (*text)(const App&);
  const char *file, *type;  // of a download; "" = it is copied
};

std::string escaped(std::string text) {
  for (size_t at = 0; (at = text.find('&', at)) != std::string::npos; at += 5) text.replace(at, 1, "&amp;");
  return text;
}

std::string frame_of(const App& app) {
  Plan framed = app.plan();
  set_value(framed, Key::embed, "1", nullptr);
  set_value(framed, Key::made, made_here(app.report), nullptr);
  return "<iframe src=\"" + escaped(platform::link_to(write_plan(framed, true))) +
         "\" width=\"640\" height=\"480\" style=\"border:0\" allow=\"clipboard-write\" title=\"" +
         escaped(subject_of(app)) + "\"></iframe>";
}

std::string markdown_of(const App& app) {
  return app.diagnosis ? diagnosis_markdown(*app.diagnosis) : report_markdown(app.report, platform::link_to(""));
}
std::string svg_of(const App& app) { return report_svg(app.report); }
std::string json_of(const App& app) { return report_json(app.report) + "\n"; }
std::string csv_of(const App& app) { return report_csv(app.report); }

constexpr std::array kOffers = {
    Offer{"link", "Link", "The whole plan, as an address.", link_of, "", ""},
    Offer{"frame", "Frame", "For a page that takes HTML: it stays live.", frame_of, "", ""},
    Offer{"markdown", "Markdown", "Every figure as tables, with the link.", markdown_of, "", ""},
    Offer{"svg", "Picture", "SVG, for wikis that block frames.", svg_of, "vram-ledger.svg", "image/svg+xml"},
    Offer{"json", "JSON", "The report, for programs.", json_of, "vram-ledger.json", "application/json"},
    Offer{"csv", "CSV", "The bills, for a spreadsheet.", csv_of, "vram-ledger.csv", "text/csv"},
};

void give(App& app, const Offer& offer) {
  if (*offer.file) return platform::download(offer.file, offer.type, offer.text(app));
  platform::copy(offer.text(app));
  app.copied = std::string("share.") + offer.name;
  platform::call_later(platform::kTimerCopied, 1800);
}

void offer_row(App& app, const Offer& offer, float x, float y, float width) {
  const float middle = y + px(kRow) / 2, button_w = px(92);
  text(kStrong, theme().ink, x, middle, offer.label);
  const float help = x + px(92), room = width - px(92) - button_w - px(12);
  if (room > px(160)) text(kSmall, theme().muted, help, middle, fitted(kSmall, offer.help, room));
  const std::string name = std::string("share.") + offer.name;
  const char* verb = app.copied == name ? "Copied" : *offer.file ? "Download" : "Copy";
  if (button(name, {x + width - button_w, middle - px(15), button_w, px(30)}, verb, false)) give(app, offer);
}

/// For whoever cannot copy: the address stands there to be selected.
float shown_link(App& app, float x, float y, float width) {
  std::string link = link_of(app);
  const Box box{x, y, width, px(32)};
  frame(box, theme().box, theme().rule);
  text_box("share.address", {box.x + px(9), box.y, box.w - px(18), box.h}, link, kSmall);
  return box.h;
}

}  // namespace

void share_popup(App& app, const Box& anchor) {
  const float screen_w = ImGui::GetIO().DisplaySize.x, screen_h = ImGui::GetIO().DisplaySize.y;
  const float width = std::min(px(520), screen_w - px(16));
  const float height = std::min(px(72 + 16) + px(kRow) * static_cast<float>(kOffers.size()), screen_h - px(16));
  const float x = std::clamp(anchor.right() - width, px(8), std::max(px(8), screen_w - width - px(8)));
  if (!begin_popup("share", {x, anchor.bottom() + px(6), width, height})) return;
  const float left = x + px(16), inner = width - px(32);
  float y = anchor.bottom() + px(6) + px(16);
  y += shown_link(app, left, y, inner) + px(12);
  for (const Offer& offer : kOffers) {
    offer_row(app, offer, left, y, inner);
    y += px(kRow);
    if (&offer != &kOffers.back()) rule(left, y, inner, theme().rule);
  }
  end_popup();
}

}  // namespace vram
