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
  if (diagnosis.beside.empty()) return "";
  const auto line = [](const std::string& label, const std::string& a, const std::string& b, const std::string& c) {
    return trimmed(pad_right(label, kLabel) + std::string(kGap, ' ') + pad_left(a, kNumber) + std::string(kGap, ' ') +
                   pad_left(b, kNumber) + std::string(kGap, ' ') + pad_left(c, kNumber));
  };
  std::string out = diagnosis.assumed ? "\n" + line("MEASURED, a GPU", "", "", "")
                                      : "\n" + line("BESIDE THE BILL, a GPU", "estimated", "measured", "difference");
  for (const BesideRow& row : beside_rows(diagnosis)) {
    out += line(row.label, row.estimated, row.measured, row.difference);
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
