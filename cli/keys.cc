#include "cli/commands.h"
#include "cli/formats.h"
#include "cli/key_help.h"
#include "cli/say.h"
#include "cli/table.h"
#include "engine/plan/plan.h"
#include "engine/report/markdown.h"

namespace cli {
namespace {

std::string meaning(const vram::Field& field) {
  return std::string(field.label) + ". " + std::string(vram::help_of(field));
}

Table key_table() {
  Table table{{"key", "values", "default", "meaning"}, "llll", {}};
  for (const vram::Field& field : vram::fields()) {
    table.rows.push_back({std::string(field.name), values_text(field), default_text(field), meaning(field)});
  }
  return table;
}

std::string reference_row(const vram::Field& field) {
  return "| `" + std::string(field.name) + "` | " + vram::markdown_text(values_text(field)) + " | " +
         vram::markdown_text(default_text(field)) + " | **" + vram::markdown_text(field.label) + ".** " +
         vram::markdown_text(vram::help_of(field)) + " |\n";
}

/// The reference page of the documentation: a table a group.
std::string key_reference() {
  std::string out =
      "# Keys of the share string\n\n"
      "Written by `vram-ledger keys --format markdown` from the engine's field table. On the command line a key is a "
      "flag\n"
      "with `-` for `_`: `grad_dtype=bf16` is `--grad-dtype bf16`. Defaults are those of the plan in which nothing is\n"
      "given; where one depends on other keys, the meaning says how.\n";
  const vram::Field* before = nullptr;
  for (const vram::Field& field : vram::fields()) {
    if (before == nullptr || before->group != field.group) {
      out += "\n## " + std::string(group_title(field.group)) + "\n\n";
      out += vram::markdown_row({"key", "values", "default", "meaning"}) + vram::markdown_rule("llll");
    }
    out += reference_row(field);
    before = &field;
  }
  return out;
}

}  // namespace

int keys(const Arguments& arguments) {
  const std::optional<Format> format = read_format(arguments, Format::text);
  if (!format) return kNoAnswer;
  if (*format == Format::json) {
    say("keys: --format is text, markdown or csv");
    return kNoAnswer;
  }
  if (*format == Format::text) {
    print(key_help());
  } else {
    print(*format == Format::markdown ? key_reference() : write_table(key_table(), *format));
  }
  return kAnswered;
}

}  // namespace cli
