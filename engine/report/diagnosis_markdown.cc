#include "engine/report/diagnosis.h"
#include "engine/report/markdown.h"

namespace vram {
namespace {

std::string findings_list(const std::vector<Finding>& findings) {
  constexpr const char* kSeverities[] = {"Error", "Warning", "Note"};
  std::string out = "\n";
  for (const Finding& finding : findings) {
    out +=
        std::string("- **") + kSeverities[static_cast<size_t>(finding.severity)] + ".** " + markdown_text(finding.text);
    if (!finding.change.empty()) out += " `" + finding.change + "`";
    out += "\n";
  }
  return out;
}

std::string beside_table(const Diagnosis& diagnosis) {
  const std::vector<BesideRow> rows = beside_rows(diagnosis);
  if (rows.empty()) return "";
  const std::vector<BesideColumn> columns = beside_columns(rows);
  std::vector<std::string> cells = {"Line"};
  for (const BesideColumn& column : columns) {
    cells.emplace_back(column.head);
    cells.back()[0] += 'A' - 'a';
  }
  cells.emplace_back("Remark");
  std::string out = "\n## Beside the bill, a GPU\n\n" + markdown_row(cells) +
                    markdown_rule("l" + std::string(columns.size(), 'r') + "l");
  for (const BesideRow& row : rows) {
    cells = {row.label};
    for (const BesideColumn& column : columns) cells.push_back(row.*column.cell);
    cells.push_back(row.remark);
    out += markdown_row(cells);
  }
  return out;
}

std::string read_table(const Diagnosis& diagnosis) {
  std::string out;
  const std::vector<ReadRow> rows = read_rows(diagnosis);
  if (!rows.empty()) {
    out += "\n## What was read\n\n" + markdown_row({"Figure", "Value", "Of", "Printed by"}) + markdown_rule("lrll");
  }
  for (const ReadRow& row : rows) out += markdown_row({row.what, row.value, row.place, row.tool});
  const std::vector<std::string> unread = unread_sentences(diagnosis);
  if (!unread.empty()) out += "\n## What was not read\n\n";
  for (const std::string& sentence : unread) out += "- " + markdown_text(sentence) + "\n";
  return out;
}

}  // namespace

std::string diagnosis_markdown(const Diagnosis& diagnosis) {
  std::string out = "# Diagnosis\n\n" + markdown_text(subject_sentence(diagnosis)) + "\n";
  const std::string symptom = symptom_sentence(diagnosis.symptom);
  if (!symptom.empty()) out += "\n" + markdown_text(symptom) + "\n";
  out += findings_list(diagnosis.findings) + beside_table(diagnosis) + read_table(diagnosis);
  if (!diagnosis.messages.empty()) out += "\n## Messages\n\n";
  for (const Message& message : diagnosis.messages) out += "- " + markdown_text(message.text) + "\n";
  return out + "\n`" + markdown_target(diagnosed_share(diagnosis)) + "`\n";
}

}  // namespace vram
