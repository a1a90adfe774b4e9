#include <algorithm>
#include <cmath>

#include "engine/report/bars.h"
#include "engine/report/figures.h"
#include "engine/report/wrap.h"
#include "engine/units.h"

namespace vram {
namespace {

constexpr double kWidth = 720, kEdge = 24;                         // px
constexpr double kBarLeft = kEdge + 84, kBarRight = kWidth - 108;  // the bars' room

constexpr const char* kInk = "text{fill:#1c1e21}.m{fill:#6b6f76}.r{stroke:#e2e2dd}.k{stroke:#1c1e21}.b{fill:#fbfbf9}";
constexpr const char* kDark = "text{fill:#e8e9eb}.m{fill:#9aa0a8}.r{stroke:#2b2f36}.k{stroke:#e8e9eb}.b{fill:#14161a}";
constexpr const char* kType =
    "text{font:13px Inter,system-ui,sans-serif;font-variant-numeric:tabular-nums}.t{font-size:12px}.h{font-size:15px;"
    "font-weight:600}.s{font-weight:600}.e{text-anchor:end}.c{text-anchor:middle}";

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}

std::string number(double value) { return write_number(std::round(value * 10) / 10); }

std::string hex(uint32_t rgb) {
  std::string text = "#";
  for (int shift = 20; shift >= 0; shift -= 4) text += "0123456789abcdef"[rgb >> shift & 15];
  return text;
}

std::string title_of(const Report& report) { return report.answered ? report_title(report) : "VRAM Ledger"; }

/// The picture as it grows downwards.
struct Drawing {
  const Report& report;
  std::string body;
  double y = 0;

  void text(const char* style, double x, double at, std::string_view words) {
    body += "<text class=\"" + std::string(style) + "\" x=\"" + number(x) + "\" y=\"" + number(at) + "\">" +
            xml(words) + "</text>\n";
  }
  void box(double x, double top, double width, double height, uint32_t rgb, std::string_view title) {
    body += "<rect x=\"" + number(x) + "\" y=\"" + number(top) + "\" width=\"" + number(width) + "\" height=\"" +
            number(height) + "\" fill=\"" + hex(rgb) + "\"><title>" + xml(title) + "</title></rect>\n";
  }
  void rule(const char* style, double x, double top, double to_x, double to_y, double width) {
    body += "<path class=\"" + std::string(style) + "\" stroke-width=\"" + number(width) + "\" d=\"M" + number(x) +
            " " + number(top) + "L" + number(to_x) + " " + number(to_y) + "\"/>\n";
  }
};

void draw_head(Drawing& d, const std::string& sentence) {
  d.y = 34;
  d.text("h", kEdge, d.y, title_of(d.report));
  for (const std::string& row : wrap(sentence, 96)) d.text("", kEdge, d.y += 22, row);
}

void draw_bar(Drawing& d, const Bar& bar, double per_byte) {
  const double top = d.y, middle = top + 10;
  d.text("m t", kEdge, top + 14, bar.label);
  double bytes = 0;
  for (const Line& line : bar.lines) {
    const double size = static_cast<double>(line.bytes);
    if (size > 0) {
      d.box(kBarLeft + bytes * per_byte, top, size * per_byte, 20, line_rgb(bar.lines, line.id),
            std::string(line.label) + ": " + shown(d.report, size));
    }
    bytes += size;
  }
  d.text("t e", kWidth - kEdge, top + 14, shown(d.report, bar.bytes));
  const double left = kBarLeft + std::max(0.0, bar.bytes - bar.band) * per_byte;
  const double right = kBarLeft + (bar.bytes + bar.band) * per_byte;
  d.rule("k", left, middle, right, middle, 1);
  d.rule("k", left, middle - 4, left, middle + 4, 1);
  d.rule("k", right, middle - 4, right, middle + 4, 1);
  d.y += 25;
}

void draw_bars(Drawing& d, const std::vector<Bar>& bars, double capacity) {
  double most = capacity * 1.04;
  for (const Bar& bar : bars) most = std::max(most, (bar.bytes + bar.band) * 1.02);
  const double per_byte = (kBarRight - kBarLeft) / std::max(1.0, most);
  const double x = kBarLeft + capacity * per_byte;
  d.text("m t c", x, d.y += 34, shown(d.report, capacity));
  const double top = d.y += 6;
  for (const Bar& bar : bars) draw_bar(d, bar, per_byte);
  d.rule("k", x, top - 2, x, d.y - 3, 2);
}

void draw_bill(Drawing& d, Lines lines, uint64_t total) {
  const double share = kWidth - kEdge, sum = static_cast<double>(total);
  const auto of_total = [&](double bytes) { return sum > 0 ? show_fixed(bytes / sum * 100, 1) + " %" : ""; };
  d.y += 8;
  for (const Line& line : lines) {
    if (line.bytes == 0) continue;
    const double bytes = static_cast<double>(line.bytes);
    d.y += 24;
    d.box(kEdge, d.y - 10, 10, 10, line_rgb(lines, line.id), line.note);
    d.text("", kEdge + 20, d.y, line.label);
    d.text("e s", share - 76, d.y, amount(d.report, bytes));
    d.text("m e t", share, d.y, of_total(bytes));
    d.rule("r", kEdge, d.y + 7.5, share, d.y + 7.5, 1);
  }
  d.rule("k", kEdge, d.y + 7.5, share, d.y + 7.5, 2);
  d.y += 28;
  d.text("s", kEdge, d.y, "On the device");
  d.text("e s", share - 76, d.y, amount(d.report, sum));
  d.text("m e t", share, d.y, amount_unit(d.report));
}

std::string style_of(Theme theme) {
  const std::string type = kType;
  if (theme == Theme::light) return type + kInk;
  if (theme == Theme::dark) return type + kDark;
  return type + kInk + "@media(prefers-color-scheme:dark){" + kDark + "}";
}

/// Why there is nothing to draw.
std::string refusal(const Report& report) {
  return report.messages.empty() ? "The plan has no bill." : report.messages.front().text;
}

void draw_report(Drawing& d) {
  const Report& report = d.report;
  const bool serve = report.plan.view == View::serve;
  draw_head(d, report.answered ? headline_sentences(report)[serve ? 2 : 0] : refusal(report));
  const Verdict verdict = serve ? report.serving.verdict : report.training.verdict;
  if (!report.answered || verdict == Verdict::invalid) return;
  if (serve) {
    draw_bars(d, serving_bars(report.serving), static_cast<double>(report.serving.capacity_bytes));
    draw_bill(d, report.serving.lines, report.serving.device_bytes);
  } else {
    draw_bars(d, training_bars(report.training), static_cast<double>(report.training.capacity_bytes));
    draw_bill(d, report.training.lines, report.training.device_bytes);
  }
}

}  // namespace

std::string report_svg(const Report& report) {
  Drawing d{report, {}};
  draw_report(d);
  d.text("m t", kEdge, d.y += 28, std::string("VRAM Ledger ") + kEngineVersion);
  const std::string width = number(kWidth), height = number(d.y + 16);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height + "\" viewBox=\"0 0 " +
         width + " " + height + "\" role=\"img\" shape-rendering=\"crispEdges\">\n<title>" + xml(title_of(report)) +
         "</title>\n<desc>" + xml(report.share) + "</desc>\n<style>" + style_of(report.plan.theme) +
         "path{fill:none}</style>\n<rect class=\"b\" width=\"" + width + "\" height=\"" + height + "\"/>\n" + d.body +
         "</svg>\n";
}

}  // namespace vram
