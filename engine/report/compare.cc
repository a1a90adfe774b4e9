#include "engine/report/compare.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/report/figures.h"
#include "engine/units.h"

namespace vram {
namespace {

bool differs(const Report& here, const Report& there, const Field& row) {
  const bool said = here.plan.has(row.key) || there.plan.has(row.key);
  return said && row.group != Group::view && value_text(here.plan, row.key) != value_text(there.plan, row.key);
}

std::vector<ComparedKey> compared_keys(const Report& here, const Report& there) {
  std::vector<ComparedKey> keys;
  for (const Field& row : fields()) {
    if (!differs(here, there, row)) continue;
    keys.push_back({row.key, value_text(here.plan, row.key), value_text(there.plan, row.key)});
  }
  return keys;
}

const Line* find_line(Lines lines, std::string_view id) {
  const auto found = std::find_if(lines.begin(), lines.end(), [&](const Line& line) { return id == line.id; });
  return found == lines.end() ? nullptr : &*found;
}

struct LineComparison {
  std::vector<ComparedLine> out;

  void add(const Line* here, const Line* there, const std::string& above, int depth) {
    const Line& line = here != nullptr ? *here : *there;
    const std::string path = above.empty() ? line.id : above + "/" + line.id;
    ComparedLine row{path, line.label, depth, std::nullopt, std::nullopt};
    if (here != nullptr) row.here = here->bytes;
    if (there != nullptr) row.there = there->bytes;
    if (row.here.value_or(0) == 0 && row.there.value_or(0) == 0) return;
    out.push_back(row);
    static const Lines none;
    add_all(here != nullptr ? here->children : none, there != nullptr ? there->children : none, path, depth + 1);
  }

  /// In this plan's order; what only the other has comes behind.
  void add_all(Lines here, Lines there, const std::string& above, int depth) {
    for (const Line& line : here) add(&line, find_line(there, line.id), above, depth);
    for (const Line& line : there) {
      if (find_line(here, line.id) == nullptr) add(nullptr, &line, above, depth);
    }
  }
};

std::vector<ComparedLine> compared_lines(Lines here, Lines there) {
  LineComparison list;
  list.add_all(here, there, "", 0);
  return list.out;
}

std::optional<double> number(const std::optional<uint64_t>& value) {
  return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
}
std::optional<double> number(const std::optional<double>& value) { return value; }
std::optional<double> number(uint64_t value) { return static_cast<double>(value); }

struct FigureRows {
  std::vector<ComparedFigure> out;

  template <class Owner, class Member>
  void add(const char* id, const char* label, FigureKind kind, const Owner& here, const Owner& there, Member member) {
    const ComparedFigure row{id, label, kind, number(here.*member), number(there.*member)};
    if (row.here || row.there) out.push_back(row);
  }
};

void add_training(const TrainingBill& here, const TrainingBill& there, FigureRows& rows) {
  if (here.verdict == Verdict::invalid || there.verdict == Verdict::invalid) return;
  const auto bytes = FigureKind::bytes;
  rows.add("training.allocated_bytes", "Allocated", bytes, here, there, &TrainingBill::allocated_bytes);
  rows.add("training.reserved_bytes", "Reserved", bytes, here, there, &TrainingBill::reserved_bytes);
  rows.add("training.device_bytes", "Training, a GPU", bytes, here, there, &TrainingBill::device_bytes);
  rows.add("training.host_bytes_per_node", "Host, a node", bytes, here, there, &TrainingBill::host_bytes_per_node);
}

void add_compute(const ComputeFigures& here, const ComputeFigures& there, FigureRows& rows) {
  const auto count = FigureKind::count;
  rows.add("compute.step_seconds", "Step", FigureKind::seconds, here, there, &ComputeFigures::step_seconds);
  rows.add("compute.tokens_per_second", "Trained tokens/s", count, here, there, &ComputeFigures::tokens_per_second);
  rows.add("compute.mfu", "MFU", FigureKind::share, here, there, &ComputeFigures::mfu);
  rows.add("compute.usd_per_billion_tokens", "USD a billion tokens", FigureKind::usd, here, there,
           &ComputeFigures::usd_per_billion_tokens);
  rows.add("compute.days", "Days of the run", count, here, there, &ComputeFigures::days);
  rows.add("compute.gpu_hours", "GPU-hours", count, here, there, &ComputeFigures::gpu_hours);
  rows.add("compute.usd", "Cost of the run", FigureKind::usd, here, there, &ComputeFigures::usd);
  rows.add("compute.kwh", "kWh", count, here, there, &ComputeFigures::kwh);
}

void add_serving(const ServingBill& here, const ServingBill& there, FigureRows& rows) {
  const auto count = FigureKind::count, seconds = FigureKind::seconds;
  if (here.verdict != Verdict::invalid && there.verdict != Verdict::invalid) {
    rows.add("serving.device_bytes", "Serving, a GPU", FigureKind::bytes, here, there, &ServingBill::device_bytes);
  }
  rows.add("serving.kv_bytes_per_request", "KV cache, a request", FigureKind::bytes, here, there,
           &ServingBill::kv_bytes_per_request);
  rows.add("serving.kv_tokens", "KV tokens", count, here, there, &ServingBill::kv_tokens);
  rows.add("serving.max_concurrency", "Requests at once", count, here, there, &ServingBill::max_concurrency);
  rows.add("serving.promised_concurrency", "Promised", count, here, there, &ServingBill::promised_concurrency);
  rows.add("serving.longest_context", "Longest context", count, here, there, &ServingBill::longest_context);
  rows.add("serving.kv_unused_share", "Held, but unused", FigureKind::share, here, there,
           &ServingBill::kv_unused_share);
  rows.add("serving.replicas_needed", "Replicas needed", count, here, there, &ServingBill::replicas_needed);
  rows.add("serving.prefill_seconds", "Prefill", seconds, here, there, &ServingBill::prefill_seconds);
  rows.add("serving.decode_seconds_per_token", "Decode, a token", seconds, here, there,
           &ServingBill::decode_seconds_per_token);
  rows.add("serving.tokens_per_second", "Served tokens/s", count, here, there, &ServingBill::tokens_per_second);
  rows.add("serving.usd_per_million_tokens", "USD a million tokens", FigureKind::usd, here, there,
           &ServingBill::usd_per_million_tokens);
}

std::string small_usd(double usd) { return usd < 100 ? show_fixed(usd, 2) + " USD" : usd_text(usd); }

}  // namespace

std::optional<double> ComparedFigure::difference() const {
  return here && there ? std::optional<double>(*here - *there) : std::nullopt;
}

Comparison compare(const Report& here, const Report& there) {
  Comparison result;
  result.keys = compared_keys(here, there);
  result.training = compared_lines(here.training.lines, there.training.lines);
  result.serving = compared_lines(here.serving.lines, there.serving.lines);
  FigureRows rows;
  add_training(here.training, there.training, rows);
  add_compute(here.compute, there.compute, rows);
  add_serving(here.serving, there.serving, rows);
  result.figures = std::move(rows.out);
  return result;
}

std::string figure_text(const Report& report, FigureKind kind, double value) {
  switch (kind) {
    case FigureKind::bytes:
      return shown(report, value);
    case FigureKind::seconds:
      return show_duration(value);
    case FigureKind::usd:
      return small_usd(value);
    case FigureKind::share:
      return percent(value);
    case FigureKind::count:
      break;
  }
  return value < 1000 && value != std::floor(value) ? show_fixed(value, 1) : show_count(value);
}

std::string difference_text(const Report& report, FigureKind kind, double difference) {
  if (difference == 0) return "0";
  return (difference < 0 ? "−" : "+") + figure_text(report, kind, std::fabs(difference));
}

bool less_is_better(const ComparedFigure& figure) {
  for (const char* id : {"compute.tokens_per_second", "compute.mfu", "serving.kv_tokens", "serving.max_concurrency",
                         "serving.promised_concurrency", "serving.longest_context", "serving.tokens_per_second"}) {
    if (std::string_view(figure.id) == id) return false;
  }
  return true;
}

}  // namespace vram
