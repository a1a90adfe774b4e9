#include <array>

#include "engine/report/figures.h"
#include "engine/report/made.h"
#include "engine/report/markdown.h"
#include "engine/units.h"

namespace vram {
namespace {

/// Depth in a bill is shown by dashes before the label.
void add_line(std::string& out, const Report& report, const Line& line, const std::string& depth) {
  const std::string band = line.band_bytes > 0 ? amount(report, static_cast<double>(line.band_bytes)) : "";
  const std::string how = line.factors.empty() ? "" : formula(line);
  out += markdown_row({depth + line.label, amount(report, static_cast<double>(line.bytes)), band, how, line.note});
  for (const Line& child : line.children) {
    if (child.bytes > 0) add_line(out, report, child, depth + "– ");
  }
}

void add_bill(std::string& out, const Report& report, Lines lines) {
  const std::string unit = amount_unit(report);
  out += "\n" + markdown_row({"Line", unit, "± " + unit, "How", "Source"}) + markdown_rule("lrrll");
  for (const Line& line : lines) add_line(out, report, line, "");
}

void add_total(std::string& out, const Report& report, uint64_t bytes, uint64_t band) {
  out += markdown_row(
      {"Device", amount(report, static_cast<double>(bytes)), amount(report, static_cast<double>(band)), "", ""});
}

void add_figures(std::string& out, const std::vector<Figure>& figures, const char* heading = nullptr) {
  if (figures.empty()) return;
  if (heading != nullptr) out.append("\n### ").append(heading).append("\n");
  out += "\n" + markdown_row({"Figure", "Value", "Remark"}) + markdown_rule("lrl");
  for (const Figure& figure : figures) out += markdown_row({figure.label, figure.value, figure.remark});
}

void add_head(std::string& out, const Report& report, std::string_view page) {
  constexpr std::array kNames = {"Training", "Compute", "Serving"};
  out += "# " + markdown_text(report_title(report)) + "\n";
  const std::vector<std::string> sentences = headline_sentences(report);
  for (size_t i = 0; i < sentences.size(); ++i) {
    out += std::string("\n**") + kNames[i] + ".** " + markdown_text(sentences[i]) + "\n";
  }
  out += "\n`" + markdown_target(report.share) + "`\n";
  if (!page.empty()) {
    out += "\n[Open this plan](" + markdown_target(page) + "#" +
           markdown_target(report.share + "&made=" + made_here(report)) + ")\n";
  }
}

void add_training(std::string& out, const Report& report) {
  const TrainingBill& bill = report.training;
  out += "\n## Training\n";
  if (bill.verdict != Verdict::invalid) {
    const std::string stage = report.plan.pp > 1 ? " of stage " + std::to_string(bill.stage) : "";
    out += "\nThe fullest GPU" + stage + ", " + phase_place(bill.phase) + ":\n";
    add_bill(out, report, bill.lines);
    add_total(out, report, bill.device_bytes, bill.band_bytes);
    add_figures(out, training_figures(report));
  }
  add_figures(out, training_napkin_figures(report), "On a napkin");
}

void add_compute(std::string& out, const Report& report) {
  const std::vector<Figure> figures = compute_figure_list(report);
  if (figures.empty()) return;
  out += "\n## Compute\n";
  add_figures(out, figures);
  if (report.compute.traffic.empty()) return;
  out += "\n### Sent by a GPU in a step\n\n";
  out += markdown_row({"Line", amount_unit(report), "Link", "Time", "Exposed", "How"}) + markdown_rule("lrlrrl");
  for (const Traffic& item : report.compute.traffic) {
    out += markdown_row({item.line.label, amount(report, static_cast<double>(item.line.bytes)), item.link,
                         show_duration(item.seconds), show_duration(item.exposed_seconds), formula(item.line)});
  }
}

void add_serving(std::string& out, const Report& report) {
  const ServingBill& bill = report.serving;
  out += "\n## Serving\n";
  if (bill.verdict != Verdict::invalid) {
    out += "\nOne GPU of a replica of " + show_grouped(report.plan.serve_gpus) + ":\n";
    add_bill(out, report, bill.lines);
    add_total(out, report, bill.device_bytes, bill.band_bytes);
  }
  add_figures(out, serving_figures(report));
  if (!bill.request_lines.empty()) {
    out += "\n### KV cache of a request\n";
    add_bill(out, report, bill.request_lines);
  }
  add_figures(out, serving_napkin_figures(report), "On a napkin");
}

void add_findings(std::string& out, const Report& report) {
  constexpr std::array kSeverities = {"Error", "Warning", "Note"};
  if (!report.findings.empty()) out += "\n## Findings\n\n";
  for (const Finding& finding : report.findings) {
    out +=
        std::string("- **") + kSeverities[static_cast<size_t>(finding.severity)] + ".** " + markdown_text(finding.text);
    if (!finding.change.empty()) out += " `" + finding.change + "`";
    out += "\n";
  }
}

void add_messages(std::string& out, const std::vector<Message>& messages) {
  if (!messages.empty()) out += "\n## Messages\n\n";
  for (const Message& message : messages) out += "- " + markdown_text(message.text) + "\n";
}

}  // namespace

std::string report_markdown(const Report& report, std::string_view page) {
  std::string out;
  if (report.answered) {
    add_head(out, report, page);
    if (report.plan.view == View::serve) add_serving(out, report);
    add_training(out, report);
    add_compute(out, report);
    if (report.plan.view != View::serve) add_serving(out, report);
    add_findings(out, report);
  }
  add_messages(out, report.answered ? own_messages(report) : report.messages);
  return out;
}

}  // namespace vram
