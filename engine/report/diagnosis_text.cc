#include "engine/report/diagnosis.h"
#include "engine/report/utf8.h"
#include "engine/report/wrap.h"

namespace vram {
namespace {

constexpr size_t kLabel = 28, kNumber = 13, kGap = 2;

std::string trimmed(std::string row) {
  while (!row.empty() && row.back() == ' ') row.pop_back();
  return row + "\n";
}

std::string read_table(const Diagnosis& diagnosis) {
  std::string out;
  std::string tool;
  for (const ReadRow& row : read_rows(diagnosis)) {
    if (row.tool != tool) out += "\nREAD, " + row.tool + "\n";
    tool = row.tool;
    out += trimmed(pad_right(row.what, kLabel) + std::string(kGap, ' ') + pad_left(row.value, kNumber) +
                   std::string(kGap, ' ') + row.place);
  }
  const std::vector<std::string> unread = unread_sentences(diagnosis);
  if (!unread.empty()) out += "\nNOT READ\n";
  for (const std::string& sentence : unread) out += paragraph("- ", sentence);
  return out;
}

std::string beside_table(const Diagnosis& diagnosis) {
  const std::vector<BesideRow> rows = beside_rows(diagnosis);
  if (rows.empty()) return "";
  const std::vector<BesideColumn> columns = beside_columns(rows);
  const auto line = [&columns](const std::string& label, auto cell) {
    std::string text = pad_right(label, kLabel);
    for (const BesideColumn& column : columns) text += std::string(kGap, ' ') + pad_left(cell(column), kNumber);
    return trimmed(text);
  };
  const auto no_head = [](const BesideColumn&) { return std::string(); };
  const auto head = [](const BesideColumn& column) { return std::string(column.head); };
  std::string out =
      "\n" + (diagnosis.assumed ? line("MEASURED, a GPU", no_head) : line("BESIDE THE BILL, a GPU", head));
  for (const BesideRow& row : rows) {
    out += line(row.label, [&row](const BesideColumn& column) { return row.*column.cell; });
    if (!row.remark.empty()) out += paragraph("  ", row.remark);
  }
  return out;
}

}  // namespace

std::string diagnosis_text(const Diagnosis& diagnosis) {
  constexpr const char* kMarks[] = {"! ", "! ", "- "};
  std::string out = subject_sentence(diagnosis) + "\n\n";
  const std::string symptom = symptom_sentence(diagnosis.symptom);
  if (!symptom.empty()) out += symptom + "\n\n";
  for (const Finding& finding : diagnosis.findings) {
    out += paragraph(kMarks[static_cast<size_t>(finding.severity)], finding.text);
    for (const std::string& part : wrap_share(finding.change, kTextColumns - 4)) {
      if (!part.empty()) out += "    " + part + "\n";
    }
  }
  out += beside_table(diagnosis) + read_table(diagnosis);
  if (!diagnosis.messages.empty()) out += "\nMESSAGES\n";
  for (const Message& message : diagnosis.messages) out += paragraph("- ", message.text);
  if (diagnosis.settings.empty() && diagnosis.measured_keys.empty()) return out;
  out += "\nTHE PLAN WITH WHAT WAS MEASURED\n";
  for (const std::string& part : wrap_share(diagnosed_share(diagnosis), kTextColumns)) out += part + "\n";
  return out;
}

}  // namespace vram
