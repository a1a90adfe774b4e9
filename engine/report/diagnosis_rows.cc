#include <algorithm>
#include <cmath>

#include "engine/advice/remedies.h"
#include "engine/plan/percent.h"
#include "engine/report/diagnosis.h"
#include "engine/units.h"

namespace vram {
namespace {

/// "reserved_unallocated_bytes" -> "reserved unallocated".
std::string words_of(std::string what) {
  constexpr std::string_view kTail = "_bytes";
  if (what.size() > kTail.size() && what.compare(what.size() - kTail.size(), kTail.size(), kTail) == 0) {
    what.resize(what.size() - kTail.size());
  }
  std::replace(what.begin(), what.end(), '_', ' ');
  return what;
}

std::string value_of(const Plan& plan, const LogFigure& figure) {
  if (figure.kind == CaptureKind::text) return printable(figure.text, 60);
  if (figure.kind == CaptureKind::number) {
    return figure.number == std::floor(figure.number) && std::fabs(figure.number) < 1e15 ? show_grouped(figure.number)
                                                                                         : write_number(figure.number);
  }
  const auto bytes = static_cast<double>(figure.bytes);
  return bytes < 0 ? "-" + shown_bytes(plan, -bytes) : shown_bytes(plan, bytes);
}

std::string place_of(const LogFigure& figure) {
  if (!figure.on.empty()) return printable(figure.on, 30);
  if (figure.device >= 0) return "GPU " + std::to_string(figure.device);
  return figure.rank >= 0 ? "rank " + std::to_string(figure.rank) : "";
}

std::string cell(const Plan& plan, const Beside& row, const std::optional<double>& value) {
  if (!value) return "";
  if (!row.bytes) return show_grouped(*value);
  return *value < 0 ? "−" + shown_bytes(plan, -*value) : shown_bytes(plan, *value);
}

}  // namespace

std::string diagnosed_share(const Diagnosis& diagnosis) {
  std::string share = write_plan(diagnosis.plan, true);
  if (diagnosis.measured_keys.empty()) return share;
  return write_plan(read_plan(share + "&" + diagnosis.measured_keys).plan, true);
}

std::string subject_sentence(const Diagnosis& diagnosis) {
  const std::string tool = diagnosis.measured.tool;
  const std::string log = diagnosis.log.figures.empty() ? "No figures of a log" : "Figures of " + tool;
  if (diagnosis.assumed) return log + ".";
  return log + ", beside the " + (diagnosis.serving ? "serving" : "training") + " bill of " +
         diagnosis.plan.subject->name + " on " + std::string(diagnosis.plan.accelerator->name) + ".";
}

std::vector<ReadRow> read_rows(const Diagnosis& diagnosis) {
  std::vector<ReadRow> rows;
  std::vector<size_t> times;
  for (const LogFigure& figure : diagnosis.log.figures) {
    if (figure.what == "device" || figure.what == "rank" || figure.what == "tp_rank") continue;
    ReadRow row{words_of(figure.what), value_of(diagnosis.plan, figure), place_of(figure), figure.tool};
    if (figure.derived) row.place += row.place.empty() ? "worked out" : ", worked out";
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const ReadRow& other) {
      return other.what == row.what && other.value == row.value && other.place == row.place && other.tool == row.tool;
    });
    if (same == rows.end()) {
      rows.push_back(std::move(row));
      times.push_back(1);
    } else {
      ++times[static_cast<size_t>(same - rows.begin())];
    }
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (times[i] > 1) rows[i].place += (rows[i].place.empty() ? "× " : ", × ") + std::to_string(times[i]);
  }
  return rows;
}

std::vector<std::string> unread_sentences(const Diagnosis& diagnosis) {
  std::vector<std::string> out;
  for (const LogGap& gap : diagnosis.log.gaps) {
    const std::string printed = gap.printed.empty() ? "" : ", \"" + printable(gap.printed, 40) + "\"";
    out.push_back("Line " + std::to_string(gap.line) + ": " + words_of(gap.what) + printed +
                  " could not be read: " + gap.why + ".");
  }
  if (diagnosis.log.left_out_bytes > 0) {
    out.push_back("The log is long: " + show_grouped(static_cast<double>(diagnosis.log.left_out_bytes)) +
                  " bytes in its middle were not read.");
  }
  return out;
}

std::string symptom_sentence(Symptom symptom) {
  switch (symptom) {
    case Symptom::at_start:
      return "It failed before any work was done.";
    case Symptom::after_steps:
      return "It failed with the model in place.";
    case Symptom::long_sample:
      return "One allocation, as of one long sample, was too large.";
    case Symptom::fragmentation:
      return "Memory was there, and in pieces.";
    case Symptom::leak:
      return "Memory grows step by step.";
    case Symptom::none:
      break;
  }
  return "";
}

std::vector<BesideRow> beside_rows(const Diagnosis& diagnosis) {
  std::vector<BesideRow> rows;
  for (const Beside& row : diagnosis.beside) {
    BesideRow made{row.label, cell(diagnosis.plan, row, row.estimated), cell(diagnosis.plan, row, row.measured), "",
                   row.remark};
    if (row.estimated && row.measured) {
      const double gap = *row.measured - *row.estimated;
      made.difference = cell(diagnosis.plan, row, gap);
      if (gap > 0) made.difference = "+" + made.difference;
    }
    rows.push_back(std::move(made));
  }
  return rows;
}

std::vector<BesideColumn> beside_columns(const std::vector<BesideRow>& rows) {
  std::vector<BesideColumn> columns = {
      {"estimated", &BesideRow::estimated}, {"measured", &BesideRow::measured}, {"difference", &BesideRow::difference}};
  std::erase_if(columns, [&rows](const BesideColumn& column) {
    return std::all_of(rows.begin(), rows.end(), [&](const BesideRow& row) { return (row.*column.cell).empty(); });
  });
  return columns;
}

}  // namespace vram
