#include <algorithm>

#include "engine/report/answer.h"
#include "engine/report/csv.h"
#include "engine/report/markdown.h"
#include "engine/report/utf8.h"
#include "engine/report/wrap.h"
#include "engine/units.h"

namespace vram {
namespace {

constexpr const char* kSwitchTitle = "What each switch is worth, one change at a time";
constexpr const char* kGpusTitle = "Each accelerator at its best";
constexpr const char* kLimitsTitle = "The plan as it is";

void add_row(std::string& out, const TextTable& table, const std::vector<size_t>& widths,
             const std::vector<std::string>& cells) {
  std::string row;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) row += "  ";
    row += table.alignment[i] == 'r' ? pad_left(cells[i], widths[i]) : pad_right(cells[i], widths[i]);
  }
  while (!row.empty() && row.back() == ' ') row.pop_back();
  out += row + "\n";
}

void add_table(std::string& out, const TextTable& table) {
  std::vector<size_t> widths;
  for (const std::string& cell : table.heading) widths.push_back(display_width(cell));
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  add_row(out, table, widths, table.heading);
  for (const auto& row : table.rows) add_row(out, table, widths, row);
}

/// The switches in 80 columns: a change in several rows where it is long, what it costs in quality behind it.
TextTable narrow_switches(const Plan& plan, const Answer& answer) {
  constexpr size_t kChange = 43;
  TextTable table = switch_table(plan, answer);
  const auto quality = std::find(table.heading.begin(), table.heading.end(), "quality") - table.heading.begin();
  TextTable narrow{{table.heading.begin(), table.heading.begin() + quality}, table.alignment, {}};
  for (auto& cells : table.rows) {
    const bool costs =
        quality < static_cast<std::ptrdiff_t>(cells.size()) && !cells[static_cast<size_t>(quality)].empty();
    if (costs) cells[0] += " (quality: " + cells[static_cast<size_t>(quality)] + ")";
    const std::vector<std::string> parts = wrap(cells[0], kChange);
    for (size_t i = 0; i < parts.size(); ++i) {
      narrow.rows.emplace_back(narrow.heading.size());
      if (i == 0) narrow.rows.back().assign(cells.begin(), cells.begin() + quality);
      narrow.rows.back()[0] = parts[i];
    }
  }
  return narrow;
}

void add_share(std::string& out, std::string lead, const std::string& share) {
  for (const std::string& part : wrap_share(share, kTextColumns - lead.size())) {
    out += lead + part + "\n";
    lead = "    ";
  }
}

void add_shares(std::string& out, const Answer& answer, size_t most) {
  const size_t rows = std::min(most, row_count(answer));
  for (size_t i = 0; i < rows; ++i) add_share(out, pad_left(std::to_string(i + 1), 2) + "  ", row_share(answer, i));
}

void add_markdown_table(std::string& out, const TextTable& table) {
  out += "\n" + markdown_row(table.heading) + markdown_rule(table.alignment);
  for (const auto& row : table.rows) out += markdown_row(row);
}

/// On a page a link to it, else the share string as it is.
std::string share_link(const std::string& row, std::string_view page) {
  const std::string share = markdown_target(row);
  return page.empty() ? "`" + share + "`" : "[" + share + "](" + markdown_target(page) + "#" + share + ")";
}

std::string csv_number(double value) { return write_number(value); }
std::string csv_number(const std::optional<double>& value) { return value ? write_number(*value) : ""; }

}  // namespace

std::string answer_text(const Plan& plan, const Answer& answer, size_t most) {
  std::string out;
  out += paragraph("", answer_sentence(plan, answer));
  if (row_count(answer) > 0) {
    out += "\n";
    add_table(out, row_table(plan, answer, most));
    out += "\n";
    add_shares(out, answer, most);
  }
  if (const auto nearest = nearest_share(answer)) add_share(out += "\n", "    ", *nearest);
  const TextTable by_gpu = gpu_table(plan, answer);
  if (!by_gpu.rows.empty()) {
    out += std::string("\n") + kGpusTitle + "\n";
    add_table(out, by_gpu);
  }
  if (!answer.gpus_without.empty()) out += paragraph("", gpus_without_sentence(answer));
  if (!answer.limits.empty()) out += std::string("\n") + kLimitsTitle + "\n";
  for (const Limit& limit : answer.limits) out += paragraph("- ", limit.text);
  if (!answer.fell_out.empty()) out += "\nThe others\n";
  for (const std::string& sentence : fell_out_sentences(answer)) out += paragraph("- ", sentence);
  if (!answer.switches.empty()) {
    out += std::string("\n") + kSwitchTitle + "\n";
    add_table(out, narrow_switches(plan, answer));
  }
  return out;
}

std::string answer_markdown(const Plan& plan, const Answer& answer, size_t most, std::string_view page) {
  std::string out = "## Plan\n\n" + markdown_text(answer_sentence(plan, answer)) + "\n";
  if (row_count(answer) > 0) {
    TextTable table = row_table(plan, answer, most);
    add_markdown_table(out, table);
    out += "\n";
    for (size_t i = 0; i < table.rows.size(); ++i) {
      out += std::to_string(i + 1) + ". " + share_link(row_share(answer, i), page) + "\n";
    }
  }
  if (const auto nearest = nearest_share(answer)) out += "\nThe nearest: " + share_link(*nearest, page) + "\n";
  const TextTable by_gpu = gpu_table(plan, answer);
  if (!by_gpu.rows.empty()) {
    out += std::string("\n### ") + kGpusTitle + "\n";
    add_markdown_table(out, by_gpu);
  }
  if (!answer.gpus_without.empty()) out += "\n" + markdown_text(gpus_without_sentence(answer)) + "\n";
  if (!answer.limits.empty()) out += std::string("\n### ") + kLimitsTitle + "\n\n";
  for (const Limit& limit : answer.limits) out += "- " + markdown_text(limit.text) + "\n";
  if (!answer.fell_out.empty()) out += "\n### The others\n\n";
  for (const std::string& sentence : fell_out_sentences(answer)) out += "- " + markdown_text(sentence) + "\n";
  if (!answer.switches.empty()) {
    out += std::string("\n### ") + kSwitchTitle + "\n";
    add_markdown_table(out, switch_table(plan, answer));
  }
  for (const Message& message : answer.messages) out += "\n- " + markdown_text(message.text) + "\n";
  return out;
}

std::string answer_csv(const Answer& answer, size_t most) {
  std::string out = answer.serving
                        ? "gpu,gpus,replicas,concurrency,device_bytes,verdict,prefill_seconds,"
                          "decode_seconds_per_token,tokens_per_second,usd_per_million_tokens,share\n"
                        : "gpu,gpus,device_bytes,verdict,mfu,step_seconds,tokens_per_second,days,usd,share\n";
  for (size_t i = 0; i < std::min(most, row_count(answer)); ++i) {
    if (answer.serving) {
      const DeploymentRow& row = answer.deployments[i];
      out += csv_row({row.plan.gpu, csv_number(row.gpus), csv_number(row.plan.replicas),
                      csv_number(row.plan.concurrency), std::to_string(row.device_bytes), verdict_word(row.verdict),
                      csv_number(row.prefill_seconds), csv_number(row.decode_seconds_per_token),
                      csv_number(row.tokens_per_second), csv_number(row.usd_per_million_tokens), row_share(answer, i)});
    } else {
      const LayoutRow& row = answer.layouts[i];
      out +=
          csv_row({row.plan.gpu, csv_number(row.plan.gpus), std::to_string(row.device_bytes), verdict_word(row.verdict),
                   csv_number(row.mfu), csv_number(row.step_seconds), csv_number(row.tokens_per_second),
                   csv_number(row.days), csv_number(row.usd), row_share(answer, i)});
    }
  }
  return out;
}

}  // namespace vram
