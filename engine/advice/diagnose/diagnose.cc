#include "engine/advice/diagnose/diagnose.h"

#include <algorithm>
#include <cmath>

#include "engine/advice/diagnose/calibrate.h"
#include "engine/advice/diagnose/case.h"
#include "engine/advice/diagnose/settings.h"
#include "engine/advice/remedies.h"
#include "engine/units.h"

namespace vram {
namespace {

using Value = std::optional<double>;

double whole(uint64_t bytes) { return static_cast<double>(bytes); }

/// What the log states stands where the plan itself says nothing; where both speak, the plan's word is named.
void apply_settings(Diagnosis& out) {
  for (const auto& [key, value, printed] : stated_settings(out.log, out.plan)) {
    const std::string name(field(key).name);
    if (out.plan.has(key)) {
      if (!printed || value_text(out.plan, key) == value) continue;
      out.messages.push_back(
          {name, value,
           name + ": the log says " + value + ", the plan " + value_text(out.plan, key) + "; the plan's is used"});
      continue;
    }
    out.names_model = out.names_model || key == Key::model;
    Message refused;
    Plan changed = out.plan;
    if (!set_value(changed, key, value, &refused)) continue;
    if (changed.subject == nullptr || changed.accelerator == nullptr || !changed.has(key)) continue;
    out.plan = std::move(changed);
    if (!out.settings.empty()) out.settings += '&';
    out.settings.append(name).append("=").append(value);
  }
}

/// A plan without a GPU of its own is judged on the one of the log.
void fill_in_hardware(Diagnosis& out) {
  const std::optional<double>& capacity = out.measured.capacity;
  const bool given = out.plan.has(Key::gpu) || out.plan.has(Key::gpu_mem);
  const std::string memory = capacity ? show_fixed(*capacity / kGiB, 2) : "";
  Message refused;
  const bool another = capacity && *capacity > kGiB && out.measured.resource.empty() &&
                       std::fabs(*capacity / out.plan.gpu_mem - 1) > kOtherCard;
  if (!given && another && set_value(out.plan, Key::gpu_mem, memory, &refused)) {
    if (!out.settings.empty()) out.settings += '&';
    out.settings += "gpu_mem=" + value_text(out.plan, Key::gpu_mem);
  }
}

/// Neither says which model it was, nor anything else of the plan.
bool nothing_given(const Plan& plan, bool names_model) {
  return write_plan(plan, false) == write_plan(Plan{}, false) && !names_model;
}

void add(Diagnosis& out, const char* id, const char* label, Value estimated, Value measured, std::string remark = "") {
  if (out.assumed) estimated.reset();
  if (!measured && !estimated) return;
  out.beside.push_back({id, label, estimated, measured, true, std::move(remark)});
}

Value line_of(Lines lines, std::string_view id) {
  for (const Line& line : lines) {
    if (id == line.id) return whole(line.bytes);
  }
  return std::nullopt;
}

Value sum(Value a, Value b) { return a || b ? Value(a.value_or(0) + b.value_or(0)) : std::nullopt; }

/// The lines of the bill that explain what is allocated, the largest first, and what they leave.
void explain_allocated(Diagnosis& out, const TrainingBill& bill) {
  std::vector<const Line*> lines;
  for (const Line& line : bill.lines) {
    const std::string_view id = line.id;
    const bool beyond = id == "fragmentation" || id == "context" || id == "communication";
    if (!beyond && line.bytes > 0) lines.push_back(&line);
  }
  std::stable_sort(lines.begin(), lines.end(), [](const Line* a, const Line* b) { return a->bytes > b->bytes; });
  for (const Line* line : lines) {
    const bool stated = std::string_view(line->id) == "weights" && out.measured.weights;
    add(out, line->id, line->label, whole(line->bytes), stated ? out.measured.weights : std::nullopt);
  }
  if (!out.measured.allocated || out.assumed) return;
  const double left = *out.measured.allocated - whole(bill.allocated_bytes);
  add(out, "unexplained", "Unexplained", std::nullopt, left,
      std::string(left < 0 ? "the bill counts more than was measured" : "measured, and in no line of the bill") +
          (out.measured.failed ? "; measured when the next allocation was refused, before the peak" : ""));
}

void compare_training(Diagnosis& out, const TrainingBill& bill) {
  if (bill.verdict == Verdict::invalid) return;
  const Measured& m = out.measured;
  if (m.allocated || m.reserved || m.device) explain_allocated(out, bill);
  add(out, "allocated", "Allocated", whole(bill.allocated_bytes), m.allocated,
      m.failed && m.tried && m.allocated ? "refused on top: " + shown_bytes(out.plan, *m.tried) : "");
  add(out, "fragmentation", "Fragmentation", line_of(bill.lines, "fragmentation"), m.unallocated,
      "reserved, not allocated");
  add(out, "reserved", "Reserved", whole(bill.reserved_bytes), m.reserved);
  add(out, "outside", "Outside the framework",
      sum(line_of(bill.lines, "context"), line_of(bill.lines, "communication")), m.outside);
  if (m.other) add(out, "other", "Other processes", 0, m.other);
  add(out, "device", "On the GPU", whole(bill.device_bytes), m.device);
  add(out, "capacity", "Its memory", out.plan.gpu_mem, m.capacity);
}

void compare_serving(Diagnosis& out, const ServingBill& bill) {
  if (bill.verdict == Verdict::invalid) return;
  const Measured& m = out.measured;
  add(out, "weights", "Weights", line_of(bill.lines, "weights"), m.weights);
  add(out, "activations", "Activations", line_of(bill.lines, "activations"), m.activations ? m.activations : m.compute);
  add(out, "graphs", "CUDA graphs", line_of(bill.lines, "graphs"), m.graphs);
  add(out, "outside", "Outside the framework", sum(line_of(bill.lines, "context"), line_of(bill.lines, "buffers")),
      m.non_torch ? m.non_torch : m.outside);
  const Value pool = bill.kv_budget_bytes_per_gpu ? Value(whole(*bill.kv_budget_bytes_per_gpu)) : std::nullopt;
  add(out, "kv_pool", "KV cache", pool, m.kv_pool);
  const Value tokens = bill.kv_tokens && !out.assumed ? Value(whole(*bill.kv_tokens)) : std::nullopt;
  if (tokens || m.kv_tokens) out.beside.push_back({"kv_tokens", "KV tokens", tokens, m.kv_tokens, false, ""});
  add(out, "device", "On the GPU", whole(bill.device_bytes), m.device);
  add(out, "capacity", "Its memory", out.plan.gpu_mem, m.capacity);
}

/// A figure beside the bill that differs by more than its band is worth a word.
void find_differences(Case& c, const std::vector<Beside>& beside) {
  for (const Beside& row : beside) {
    if (std::string_view(row.id) != "kv_tokens" || !row.estimated || !row.measured || *row.estimated <= 0) continue;
    const double ratio = *row.measured / *row.estimated;
    if (ratio > 0.8 && ratio < 1.25) continue;
    c.say(Severity::warning, "kv_tokens_differ",
          "The engine holds " + show_grouped(*row.measured) + " tokens where the bill says " +
              show_grouped(*row.estimated) + ": check the model, the KV format and the GPUs a replica of the plan.");
  }
}

/// A bill of a model that nobody named is no measure of what ran.
void say_model_assumed(Case& c) {
  if (c.names_model || c.plan.subject == nullptr) return;
  if (c.assumed) {
    return c.say(Severity::info, "model_assumed",
                 "Neither the log nor the plan names the model. Set it, and how it is trained or served: then the bill "
                 "stands beside these figures, and each change says what it saves.");
  }
  const bool by_bill = std::any_of(c.findings.begin(), c.findings.end(), [](const Finding& finding) {
    constexpr std::string_view kByBill[] = {"at_start", "after_steps", "weights_elsewhere", "kv_tokens_differ"};
    return std::find(std::begin(kByBill), std::end(kByBill), finding.id) != std::end(kByBill);
  });
  if (!by_bill) return;
  c.say(Severity::warning, "model_assumed",
        "The log does not name the model, and the bill is of " + c.plan.subject->name +
            ". Set the model that ran: what is said of weights and states follows it.");
}

/// A library failed, and memory is one reason of several that it may have.
void say_broken(Case& c) {
  const std::string& broken = c.measured.broken;
  if (broken == "profiling") {
    c.say(Severity::error, "profiling_disturbed",
          "Memory became free while the engine measured itself: another process left the GPU meanwhile. Start again on "
          "a GPU that nobody else uses.");
    return;
  }
  if (broken == "NCCL" && c.measured.failed) {
    c.say(Severity::warning, "nccl_no_room",
          "NCCL could not get " + (c.measured.tried ? c.shown(*c.measured.tried) : std::string("its buffers")) +
              ", and the message does not say what held the GPU. Its buffers lie outside the framework's allocator: "
              "where that had taken the rest, leave room for them (a smaller batch, expandable segments, a memory "
              "fraction below 1), or open fewer communicators.");
    return;
  }
  c.say(Severity::warning, "no_figures",
        broken +
            " failed, and does not say for want of what: memory is one reason, an error before it another. The "
            "lines above it, what else was on the GPU then and the settings would tell.");
}

void say_nothing_found(Case& c, const LogReading& log) {
  if (!c.findings.empty()) return;
  const Measured& m = c.measured;
  if (!m.broken.empty()) return say_broken(c);
  if (m.failed && m.tried) {
    c.say(Severity::warning, "no_figures",
          c.shown(*m.tried) + " was refused" + (m.free ? ", where " + c.shown(*m.free) + " was free" : "") +
              ", and the message does not say what held the rest. The lines above it, what else was on the GPU then "
              "and the "
              "settings would.");
  } else if (m.failed) {
    c.say(Severity::warning, "no_figures",
          "An allocation failed, and the message has no figures to tell why. The lines above it, what else was on the "
          "GPU then and the settings would.");
  } else if (log.figures.empty() && !log.gaps.empty()) {
    c.say(Severity::warning, "nothing_read", "The message has no figure that could be read.");
  } else if (log.figures.empty()) {
    c.say(Severity::info, "nothing_read",
          "No figure of memory was found. Paste the whole error, torch.cuda.memory_summary(), nvidia-smi or a start-up "
          "log.");
  } else {
    c.say(Severity::info, "nothing_wrong",
          c.assumed ? "Nothing in the log failed." : "Nothing in the log failed; its figures stand beside the bill.");
  }
}

}  // namespace

std::string Case::shown(double bytes) const { return shown_bytes(plan, bytes); }

void Case::say(Severity severity, const char* id, std::string text, std::string change) {
  findings.push_back(notice(severity, id, std::move(text), std::move(change)));
}

const char* symptom_word(Symptom symptom) {
  constexpr const char* kWords[] = {"", "at_start", "after_steps", "long_sample", "fragmentation", "leak"};
  return kWords[static_cast<size_t>(symptom)];
}

Diagnosis diagnose(const Plan& plan, std::string_view log) { return diagnose(plan, read_log(log)); }

Diagnosis diagnose(const Plan& plan, LogReading log) {
  Diagnosis out;
  out.plan = plan;
  out.log = std::move(log);
  apply_settings(out);
  out.measured = measured_of(out.log, out.plan);
  out.names_model = out.names_model || out.plan.has(Key::model);
  out.assumed = nothing_given(plan, out.names_model);
  fill_in_hardware(out);
  const bool no_tool = out.measured.tool[0] == 0;
  out.serving = is_serving_tool(out.measured.tool) || (no_tool && plan.has(Key::measured_kv_tokens)) ||
                (plan.view == View::serve && !out.measured.allocated);
  const TrainingBill training = training_bill(plan_when_measured(out.plan));
  const ServingBill serving = serving_bill(out.plan);
  if (out.serving) {
    compare_serving(out, serving);
  } else {
    compare_training(out, training);
  }
  Case c{out.plan,     training,     serving,
         out.measured, out.serving,  out.names_model,
         out.assumed,  out.findings, measured_peak(out.measured, training)};
  if (out.serving || c.peak) out.measured_keys = measured_fragment(out.serving ? out.measured : *c.peak, out.serving);
  const bool contradicted = find_contradictions(c);
  if (!contradicted && !find_other_resource(c)) out.serving ? find_serving_causes(c) : find_training_causes(c);
  if (out.serving && !out.assumed) find_differences(c, out.beside);
  say_nothing_found(c, out.log);
  if (!out.assumed) say_model_assumed(c);
  add_cures(c);
  if (out.assumed && !out.log.figures.empty() && out.measured.resource.empty()) say_model_assumed(c);
  out.symptom = c.symptom;
  std::optional<Finding> shifted =
      out.serving ? serving_calibration(out.plan, serving) : calibration_finding(out.plan, training_bill(out.plan));
  if (shifted) out.findings.push_back(std::move(*shifted));
  return out;
}

}  // namespace vram
