#include <algorithm>
#include <cmath>

#include "engine/report/diagnosis.h"
#include "web/platform.h"
#include "web/views.h"
#include "web/widgets.h"

namespace vram {
namespace {

using namespace kit;

constexpr size_t kReadRows = 14;  // before the rest is unfolded

Headline headline_of(const Diagnosis& diagnosis) {
  constexpr const char* kWords[] = {"",        "At the start. ", "At work. ", "One allocation. ", "Fragmentation. ",
                                    "A leak. "};
  Headline headline{"", "", subject_sentence(diagnosis), theme().ink};
  const bool failed = std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                                  [](const Finding& finding) { return finding.severity == Severity::error; });
  headline.color = failed ? theme().bad : theme().good;
  headline.word = kWords[static_cast<size_t>(diagnosis.symptom)];
  headline.rest = symptom_sentence(diagnosis.symptom);
  if (!headline.rest.empty()) return headline;
  headline.word = failed ? "Not the batch. " : diagnosis.log.figures.empty() ? "" : "Nothing failed. ";
  headline.rest = failed ? "Read first what the figures say." : "Measured figures stand beside the bill.";
  if (diagnosis.log.figures.empty() && !failed) headline = {"", "What went wrong?", "", theme().ink};
  return headline;
}

/// Where a log is pasted or dropped, and what lies there.
float log_box(App& app, float x, float y, float width) {
  const Box box{x, y, width, px(64)};
  frame(box, theme().box, theme().rule);
  const float left = box.x + px(14), middle = box.y + box.h / 2;
  const float side = text_width(kText, "Paste") + px(28);
  const bool empty = app.log_name.empty();
  const Box paste{box.right() - side - px(12), middle - px(16), side, px(32)};
  if (button("log.paste", paste, "Paste", empty)) platform::paste();
  float room = paste.x - px(12) - left;
  if (!empty) {
    const Box clear{paste.x - side - px(8), paste.y, side, paste.h};
    room = clear.x - px(12) - left;
    if (button("log.clear", clear, "Clear", false)) take_log(app, "");
  }
  const char* keys = platform::is_mac() ? "⌘V" : "Ctrl+V";
  const std::string first = empty ? std::string("Paste with ") + keys + ", or drop a file" : app.log_name;
  const std::string second =
      empty ? "An error, memory_summary(), nvidia-smi, or what a server printed at its start" : app.log_size;
  text(kText, theme().ink, left, middle - px(10), fitted(kText, first, room));
  text(kSmall, theme().muted, left, middle + px(10), fitted(kSmall, second, room));
  mark("log", box);
  return box.h;
}

struct Sample {
  const char *name, *label, *text;
};
constexpr Sample kSamples[] = {
    {"pytorch", "PyTorch ran out of memory",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.96 GiB. GPU 0 has a total capacity of 79.11 GiB "
     "of which 731.69 MiB is free. Including non-PyTorch memory, this process has 78.39 GiB memory in use. Of the "
     "allocated memory 70.35 GiB is allocated by PyTorch, and 6.12 GiB is reserved by PyTorch but unallocated."},
    {"vllm", "vLLM does not start",
     "ValueError: To serve at least one request with the model's max seq len (131072), (16.00 GiB KV cache is needed, "
     "which is larger than the available KV cache memory (7.62 GiB). Based on the available memory, the estimated "
     "maximum model length is 62416. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when "
     "initializing the engine."},
    {"smi", "nvidia-smi, while it runs",
     "|   0  NVIDIA H100 80GB HBM3    On  | 00000000:19:00.0 Off |                    0 |\n"
     "| N/A   62C    P0       664W /  700W |  71594MiB /  81559MiB |     99%      Default |"},
};

/// Where nothing was pasted: what may be, to be tried on the plan as it is.
float sample_rows(App& app, float x, float y, float width) {
  const float top = y;
  heading(x, y + px(9), "For example");
  y += px(26);
  for (const Sample& sample : kSamples) {
    const Box row{x, y, width, px(44)};
    const Touch touch = area(std::string("sample.") + sample.name, row);
    if (touch.hovered) fill(row, mix(theme().background, theme().muted, 0.1f), px(4));
    text(kText, theme().accent, x, y + px(14), sample.label);
    const std::string_view line = sample.text;
    glyphs(kSmall, theme().muted, x, y + px(32), fitted(kSmall, line.substr(0, line.find('\n')), width));
    if (touch.pressed) take_log(app, sample.text);
    y += row.h;
    rule(x, y, width, theme().rule);
  }
  return y - top;
}

/// One row of a table: a label, and cells that end at the right edges given.
struct Columns {
  float x, width;
  std::vector<float> rights;
};

void table_row(const Columns& columns, float middle, Type label, Type figures, ImU32 color, ImU32 last,
               const std::string& name, const std::vector<std::string>& cells) {
  const float first = columns.rights.empty() ? columns.x + columns.width : columns.rights.front();
  text(label, color, columns.x, middle, fitted(label, name, first - columns.x - px(96)));
  for (size_t i = 0; i < cells.size() && i < columns.rights.size(); ++i) {
    text_right(figures, i + 1 == cells.size() ? last : color, columns.rights[i], middle, cells[i]);
  }
}

/// The bill's readings and what was measured of them.
float beside_table(const Diagnosis& diagnosis, float x, float y, float width) {
  const std::vector<BesideRow> rows = beside_rows(diagnosis);
  if (rows.empty()) return 0;
  const float top = y, right = x + width, step = px(width < px(420) ? 84 : 112);
  const std::vector<BesideColumn> used = beside_columns(rows);
  Columns columns{x, width, {}};
  std::vector<std::string> cells;
  for (const BesideColumn& column : used) {
    cells.emplace_back(diagnosis.assumed ? "" : column.head);
    columns.rights.push_back(right - step * static_cast<float>(used.size() - cells.size()));
  }
  text(kStrong, theme().ink, x, y + px(10), diagnosis.assumed ? "Measured" : "Beside the bill");
  table_row(columns, y + px(10), kStrong, kTiny, theme().muted, theme().muted, "", cells);
  y += px(26);
  rule(x, y, width, theme().rule);
  for (size_t i = 0; i < rows.size(); ++i) {
    const BesideRow& row = rows[i];
    const std::string_view id = diagnosis.beside[i].id;
    const bool total = id == "allocated" || id == "reserved" || id == "device" || id == "kv_tokens";
    const ImU32 color = row.measured.empty() ? theme().muted : theme().ink;
    cells.clear();
    for (const BesideColumn& column : used) cells.push_back(row.*column.cell);
    table_row(columns, y + px(14), total ? kStrong : kText, total ? kStrongFigures : kFigures, color,
              used.size() == 1 ? color : theme().muted, row.label, cells);
    y += px(28);
    if (!row.remark.empty()) y += paragraph(kSmall, theme().muted, x, y - px(4), width, row.remark) + px(2);
    rule(x, y, width, theme().rule, total ? 1.5f : 1);
  }
  return y - top;
}

/// What was read of the log, as it was understood; and what was not.
float read_table(App& app, const Diagnosis& diagnosis, float x, float y, float width) {
  const float top = y;
  const std::vector<ReadRow> rows = read_rows(diagnosis);
  const bool unfolded = app.open.contains("log.read");
  const size_t shown = unfolded ? rows.size() : std::min(rows.size(), kReadRows);
  if (!rows.empty()) {
    text(kStrong, theme().ink, x, y + px(10), "What was read");
    y += px(28);
  }
  std::string tool;
  const float value = x + std::min(width * 0.62f, px(250)), place = value + px(14);
  for (size_t i = 0; i < shown; ++i) {
    const ReadRow& row = rows[i];
    if (row.tool != tool) {
      heading(x, y + px(9), row.tool);
      y += px(20);
    }
    tool = row.tool;
    text(kSmall, theme().muted, x, y + px(10), fitted(kSmall, row.what, value - x - px(84)));
    text_right(kSmallFigures, theme().ink, value, y + px(10), fitted(kSmallFigures, row.value, px(120)));
    text(kTiny, theme().muted, place, y + px(10), fitted(kTiny, row.place, x + width - place));
    y += px(21);
  }
  if (rows.size() > kReadRows) {
    const std::string label = unfolded ? "Fewer" : std::to_string(rows.size() - kReadRows) + " more";
    const Box box{x, y, text_width(kSmall, label) + px(8), px(24)};
    const Touch touch = area("log.more", box);
    text(kSmall, theme().accent, x, y + px(12), label);
    if (touch.pressed) toggle(app, "log.read");
    y += px(28);
  }
  for (const std::string& sentence : unread_sentences(diagnosis)) {
    dot(x + px(3), y + px(10), 2.5f, theme().warn);
    y += paragraph(kSmall, theme().ink, x + px(12), y + px(2), width - px(12), sentence) + px(4);
  }
  return y - top;
}

/// Estimated and measured under one another, against the memory of the GPU.
float measured_bars(const App& app, const Diagnosis& diagnosis, float x, float y, float width) {
  const Measured& m = diagnosis.measured;
  const TrainingBill& bill = app.report.training;
  if (diagnosis.serving || !m.allocated || bill.lines.empty()) return 0;
  const auto line = [](const char* id, const char* label, double bytes) {
    Line made;
    made.id = id;
    made.label = label;
    made.bytes = static_cast<uint64_t>(std::max(0.0, bytes));
    return made;
  };
  const std::vector<Line> measured = {line("weights", "Allocated", *m.allocated),
                                      line("fragmentation", "Fragmentation", m.unallocated.value_or(0)),
                                      line("context", "Outside the framework", m.outside.value_or(0)),
                                      line("activations", "Other processes", m.other.value_or(0))};
  std::vector<Bar> bars = {{"Measured", measured, whole(total_bytes(measured)), 0}};
  if (!diagnosis.assumed)
    bars.insert(bars.begin(), {"Estimated", bill.lines, whole(bill.device_bytes), whole(bill.band_bytes)});
  return stacked_bars(bars, diagnosis.plan.gpu_mem, units_of(app.plan()), x, y, width) + px(12);
}

/// What the log adds to the plan, as one link that does it.
float keep_row(App& app, const Diagnosis& diagnosis, float x, float y, float width) {
  std::string change = diagnosis.settings;
  if (!diagnosis.measured_keys.empty()) change += (change.empty() ? "" : "&") + diagnosis.measured_keys;
  if (change.empty()) return 0;
  int pressed = -1;
  dot(x + px(3), y + px(10), 2.5f, theme().accent);
  const float height =
      runs(x + px(12), y, width - px(12), px(20),
           {{kSmall, theme().accent, "Keep this in the plan", "log.keep"}, {kSmall, theme().muted, ": " + change, ""}},
           &pressed);
  if (pressed == 0) apply_change(app, change);
  return height + px(8);
}

}  // namespace

float diagnose_view(App& app, float x, float y, float width) {
  const float top = y;
  const Diagnosis diagnosis = *app.diagnosis;  // what is pressed below may replace it
  y += headline_view(headline_of(diagnosis), x, y, width) + px(8);
  y += log_box(app, x, y, width) + px(16);
  const Measured& m = diagnosis.measured;
  const bool nothing = diagnosis.log.empty() && !m.allocated && !m.reserved && !m.device && !m.kv_pool;
  if (nothing && app.log_name.empty()) return y + sample_rows(app, x, y, width) - top;
  for (const Finding& finding : diagnosis.findings) y += finding_row(app, finding, x, y, width) + px(4);
  y += keep_row(app, diagnosis, x, y, width) + px(8);
  y += measured_bars(app, diagnosis, x, y, width);
  if (nothing) return y - top;
  const float gap = px(28);
  if (width < px(760)) {
    y += beside_table(diagnosis, x, y, width) + px(20);
    return y + read_table(app, diagnosis, x, y, width) - top;
  }
  const float left = std::round((width - gap) * 0.6f);
  const float bottom = y + beside_table(diagnosis, x, y, left);
  return std::max(bottom, y + read_table(app, diagnosis, x + left + gap, y, width - left - gap)) - top;
}

}  // namespace vram
