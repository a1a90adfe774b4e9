#include "cli/key_help.h"

#include <algorithm>

#include "engine/plan/values.h"
#include "engine/report/utf8.h"
#include "engine/report/wrap.h"

namespace cli {
namespace {

constexpr size_t kColumns = 80, kIndent = 6;

std::string flag_text(const vram::Field& field) {
  std::string name(field.name);
  std::replace(name.begin(), name.end(), '_', '-');
  return "  --" + name;
}

std::string help_text(const vram::Field& field) {
  std::string text = std::string(field.label) + ". " + std::string(vram::help_of(field));
  text += " Takes " + values_text(field) + ".";
  const std::string usual = default_text(field);
  if (!usual.empty() && vram::help_of(field).find("Default") == std::string_view::npos)
    text += " Default: " + usual + ".";
  return text;
}

}  // namespace

std::string_view group_title(vram::Group group) {
  constexpr std::string_view kTitles[] = {"Model", "Hardware", "Training", "Serving", "Measured and asked", "View"};
  return kTitles[static_cast<size_t>(group)];
}

std::string default_text(const vram::Field& field) {
  static const vram::PlanReading nothing_given = vram::read_plan("");
  if (nothing_given.plan.subject == nullptr) return "";
  const bool of_the_model = field.group == vram::Group::model && field.key != vram::Key::model &&
                            field.key != vram::Key::vocab_pad && field.key != vram::Key::arch;
  const bool of_the_gpu =
      field.group == vram::Group::hardware && vram::help_of(field).find("Default") != std::string_view::npos;
  if (of_the_model || of_the_gpu) return "the preset's";
  return field.has_default ? vram::value_text(nothing_given.plan, field.key) : "";
}

std::string values_text(const vram::Field& field) {
  const bool bare = field.kind == vram::FieldKind::count || field.kind == vram::FieldKind::number;
  return vram::accepted_values(field) + (bare && !field.unit.empty() ? " " + std::string(field.unit) : "");
}

std::string key_help() {
  std::string out;
  const vram::Group* group = nullptr;
  for (const vram::Field& field : vram::fields()) {
    if (group == nullptr || *group != field.group) out += "\n" + std::string(group_title(field.group)) + "\n";
    group = &field.group;
    out += flag_text(field) + "\n";
    for (const std::string& row : vram::wrap(help_text(field), kColumns - kIndent)) {
      out += std::string(kIndent, ' ') + row + "\n";
    }
  }
  return out;
}

}  // namespace cli
