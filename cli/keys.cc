#include "cli/commands.h"
#include "cli/formats.h"
#include "cli/key_help.h"
#include "cli/say.h"
#include "cli/table.h"
#include "engine/plan/plan.h"
#include "engine/plan/values.h"

namespace cli {
namespace {

std::vector<std::string> key_row(const vram::Field& field) {
  return {std::string(field.name), vram::accepted_values(field), default_text(field),
          std::string(field.label) + ". " + std::string(field.help)};
}

Table key_table() {
  Table table{{"key", "values", "default", "meaning"}, "llll", {}};
  for (const vram::Field& field : vram::fields()) table.rows.push_back(key_row(field));
  return table;
}

/// The reference page of the documentation: a table a section.
std::string key_reference() {
  std::string out =
      "# Keys of the share string\n\n"
      "Written by `vram-ledger keys --format markdown` from the engine's field table. On the command line a key is a flag\n"
      "with `-` for `_`: `grad_dtype=bf16` is `--grad-dtype bf16`. Defaults are those of the plan in which nothing is given.\n";
  const auto all = vram::fields();
  for (size_t i = 0; i < all.size();) {
    const vram::Group group = all[i].group;
    out += "\n## " + std::string(group_title(group)) + "\n\n";
    Table table{{"key", "values", "default", "meaning"}, "llll", {}};
    for (; i < all.size() && all[i].group == group; ++i) table.rows.push_back(key_row(all[i]));
    out += write_table(table, Format::markdown);
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
