#include <algorithm>
#include <cmath>

#include "engine/report/answer.h"
#include "engine/units.h"

namespace vram {
namespace {

double unit_of(const Plan& plan) { return plan.units == UnitsChoice::gb ? kGB : kGiB; }
const char* unit_name(const Plan& plan) { return plan.units == UnitsChoice::gb ? "GB" : "GiB"; }

std::string one_decimal(double value) { return value < 1000 ? show_fixed(value, 1) : show_grouped(std::round(value)); }

template <class Show>
std::string shown_if(const std::optional<double>& value, Show show) {
  return value ? show(*value) : "";
}

std::string usd(double amount) { return amount < 100 ? show_fixed(amount, 2) : show_grouped(std::round(amount)); }
std::string percent(double share) { return show_fixed(share * 100, 0) + "%"; }

/// Columns that say something in some row.
TextTable without_empty_columns(const TextTable& table) {
  TextTable kept;
  kept.rows.resize(table.rows.size());
  for (size_t column = 0; column < table.heading.size(); ++column) {
    const bool empty =
        std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) { return row[column].empty(); });
    if (empty) continue;
    kept.heading.push_back(table.heading[column]);
    kept.alignment += table.alignment[column];
    for (size_t row = 0; row < table.rows.size(); ++row) kept.rows[row].push_back(table.rows[row][column]);
  }
  return kept;
}

template <class Rows>
bool several_kinds(const Rows& rows) {
  return std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.plan.gpu != rows.front().plan.gpu; });
}

template <class Rows>
bool several_counts(const Rows& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const auto& row) { return row.plan.gpus != rows.front().plan.gpus; });
}

TextTable layout_table(const Plan& plan, Question question, const std::vector<LayoutRow>& rows, size_t most) {
  TextTable table{
      {"", "GPU", "GPUs", "layout", "seq", unit_name(plan), "MFU", "tokens/s", "days", "USD"}, "rlrlrrrrrr", {}};
  const bool kinds = several_kinds(rows), counts = several_counts(rows);
  for (size_t i = 0; i < std::min(most, rows.size()); ++i) {
    const LayoutRow& row = rows[i];
    table.rows.push_back({std::to_string(i + 1), kinds ? row.plan.gpu : "", counts ? show_grouped(row.plan.gpus) : "",
                          layout_words(row.plan), question == Question::longest_seq ? show_grouped(row.plan.seq) : "",
                          one_decimal(static_cast<double>(row.device_bytes) / unit_of(plan)),
                          shown_if(row.mfu, percent), shown_if(row.tokens_per_second, show_count),
                          shown_if(row.days, one_decimal), shown_if(row.usd, usd)});
  }
  return table;
}

/// "2 × 8": replicas and the GPUs of each.
std::string gpus_text(const DeploymentRow& row) {
  const std::string each = show_grouped(row.plan.serve_gpus);
  return row.plan.replicas > 1 ? show_grouped(row.plan.replicas) + " × " + each : each;
}

TextTable deployment_table(Question question, const std::vector<DeploymentRow>& rows, size_t most) {
  TextTable table{{"", "GPU", "GPUs", "deployment", "prompt", "requests", "TTFT", "a token", "tokens/s", "USD/M"},
                  "rlrlrrrrrr",
                  {}};
  const bool kinds = several_kinds(rows);
  for (size_t i = 0; i < std::min(most, rows.size()); ++i) {
    const DeploymentRow& row = rows[i];
    table.rows.push_back({std::to_string(i + 1), kinds ? row.plan.gpu : "", gpus_text(row), deployment_words(row.plan),
                          question == Question::context ? show_grouped(row.plan.prompt) : "",
                          show_grouped(row.plan.concurrency), shown_if(row.prefill_seconds, show_duration),
                          shown_if(row.decode_seconds_per_token, show_duration),
                          shown_if(row.tokens_per_second, show_count), shown_if(row.usd_per_million_tokens, usd)});
  }
  return table;
}

std::string time_text(double ratio) {
  const double change = std::round((ratio - 1) * 100);
  if (change == 0) return "same";
  if (ratio >= 2) return "× " + show_fixed(ratio, 1);
  return (change > 0 ? "+" : "−") + show_fixed(std::fabs(change), 0) + "%";
}

std::string saved_text(const Plan& plan, int64_t bytes) {
  const double value = static_cast<double>(bytes) / unit_of(plan);
  const std::string amount = one_decimal(std::fabs(value));
  if (amount == "0.0") return "0";
  return (value < 0 ? "−" : "") + amount;
}

}  // namespace

TextTable row_table(const Plan& plan, const Answer& answer, size_t most) {
  return without_empty_columns(answer.serving ? deployment_table(answer.question, answer.deployments, most)
                                              : layout_table(plan, answer.question, answer.layouts, most));
}

TextTable gpu_table(const Plan& plan, const Answer& answer) {
  return without_empty_columns(answer.serving ? deployment_table(answer.question, answer.deployments_by_gpu, SIZE_MAX)
                                              : layout_table(plan, answer.question, answer.layouts_by_gpu, SIZE_MAX));
}

TextTable switch_table(const Plan& plan, const Answer& answer) {
  const std::string saves = std::string("saves, ") + unit_name(plan);
  TextTable table{{"change", saves, "time", "requests", "then", "quality"}, "lrrrll", {}};
  for (const Switch& one : answer.switches) {
    table.rows.push_back({one.change.text, saved_text(plan, one.saves_bytes), shown_if(one.time_ratio, time_text),
                          one.requests ? show_grouped(std::floor(*one.requests)) : "", verdict_word(one.verdict),
                          one.change.quality});
  }
  return without_empty_columns(table);
}

}  // namespace vram
