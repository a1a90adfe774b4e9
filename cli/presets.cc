#include "cli/commands.h"
#include "cli/formats.h"
#include "cli/say.h"
#include "cli/table.h"
#include "engine/preset_table.h"
#include "engine/report/json_writer.h"
#include "engine/report/report.h"
#include "engine/units.h"

namespace cli {
namespace {

bool takes_nothing(const Arguments& arguments) {
  if (arguments.positional.empty() && arguments.keys.empty()) return true;
  say(arguments.command + " takes nothing but --format");
  return false;
}

/// A preset as a plan of its own sees it.
struct ModelRow {
  vram::Plan plan;
  std::optional<uint64_t> kv_bytes_per_token;
};

std::vector<ModelRow> model_rows() {
  std::vector<ModelRow> rows;
  for (const vram::PresetRow& preset : vram::model_presets()) {
    const vram::PlanReading reading = vram::read_plan("kv=bf16&model=" + std::string(preset.id));
    if (!reading.answerable) continue;
    rows.push_back({reading.plan, vram::serving_bill(reading.plan).kv_bytes_per_token});
  }
  return rows;
}

std::string models_json(const std::vector<ModelRow>& rows) {
  vram::JsonWriter json;
  json.open('[');
  for (const ModelRow& row : rows) {
    json.open('{');
    json.member("id", row.plan.model);
    json.member("name", row.plan.subject->name);
    json.member("parameters", row.plan.subject->nominal_parameters);
    json.member("active_parameters", row.plan.subject->active_parameters);
    json.member("kv_bytes_per_token", row.kv_bytes_per_token);
    json.member_if("source", row.plan.subject->source);
    json.close('}');
  }
  json.close(']');
  return json.text() + "\n";
}

std::string count_cell(double value, Format format) {
  return format == Format::csv ? vram::write_number(value) : vram::show_count(value);
}

Table model_table(const std::vector<ModelRow>& rows, Format format) {
  Table table{{"id", "parameters", "active", "KV B/token", "name"}, "lrrrl", {}};
  if (format == Format::csv) table.heading = {"id", "parameters", "active_parameters", "kv_bytes_per_token", "name"};
  for (const ModelRow& row : rows) {
    const vram::Model& model = *row.plan.subject;
    table.rows.push_back({row.plan.model, count_cell(model.nominal_parameters, format),
                          count_cell(model.active_parameters, format),
                          row.kv_bytes_per_token ? std::to_string(*row.kv_bytes_per_token) : "", model.name});
  }
  return table;
}

std::vector<vram::Accelerator> accelerators() {
  std::vector<vram::Accelerator> list;
  for (const vram::PresetRow& preset : vram::hardware_presets()) {
    if (auto accelerator = vram::find_accelerator(preset.id)) list.push_back(*accelerator);
  }
  return list;
}

std::optional<double> known(double value) { return value > 0 ? std::optional<double>(value) : std::nullopt; }

std::string gpus_json(const std::vector<vram::Accelerator>& list) {
  constexpr double kTera = 1e12, kGiga = 1e9;
  vram::JsonWriter json;
  json.open('[');
  for (const vram::Accelerator& gpu : list) {
    json.open('{');
    json.member("id", gpu.id);
    json.member("name", gpu.name);
    json.member_if("vendor", gpu.vendor);
    json.member("memory_bytes", static_cast<uint64_t>(gpu.memory_bytes));
    json.member("marketed_bytes", static_cast<uint64_t>(gpu.marketed_bytes));
    json.member("bytes_per_second", known(gpu.bandwidth_gb_s * kGiga));
    json.member("bf16_flops_per_second", known(gpu.bf16_tflops * kTera));
    json.member("fp16_flops_per_second", known(gpu.fp16_tflops * kTera));
    json.member("fp8_flops_per_second", known(gpu.fp8_tflops * kTera));
    json.member("fp4_flops_per_second", known(gpu.fp4_tflops * kTera));
    json.member("link_bytes_per_second", known(gpu.link_gb_s * kGiga));
    json.member("net_bytes_per_second", known(gpu.net_gb_s * kGiga));
    json.member("node_gpus", gpu.node);
    json.member("watts", known(gpu.watts));
    json.member("usd_per_hour", known(gpu.usd_per_hour));
    json.member_if("source", gpu.source);
    json.close('}');
  }
  json.close(']');
  return json.text() + "\n";
}

std::string known_cell(double value, int digits, Format format) {
  if (value <= 0) return "";
  return format == Format::csv ? vram::write_number(value) : vram::show_fixed(value, digits);
}

Table gpu_table(const std::vector<vram::Accelerator>& list, Format format) {
  Table table{{"id", "GiB", "GB/s", "bf16 TF", "fp8 TF", "W", "USD/h", "name"}, "lrrrrrrl", {}};
  if (format == Format::csv) {
    table.heading = {"id", "memory_gib", "gb_per_s", "bf16_tflops", "fp8_tflops", "watts", "usd_per_hour", "name"};
  }
  for (const vram::Accelerator& gpu : list) {
    table.rows.push_back({gpu.id, known_cell(gpu.memory_bytes / vram::kGiB, 1, format),
                          known_cell(gpu.bandwidth_gb_s, 0, format), known_cell(gpu.bf16_tflops, 0, format),
                          known_cell(gpu.fp8_tflops, 0, format), known_cell(gpu.watts, 0, format),
                          known_cell(gpu.usd_per_hour, 2, format), gpu.name});
  }
  return table;
}

}  // namespace

int models(const Arguments& arguments) {
  const std::optional<Format> format = read_format(arguments, Format::text);
  if (!format || !takes_nothing(arguments)) return kNoAnswer;
  const std::vector<ModelRow> rows = model_rows();
  print(*format == Format::json ? models_json(rows) : write_table(model_table(rows, *format), *format));
  return kAnswered;
}

int gpus(const Arguments& arguments) {
  const std::optional<Format> format = read_format(arguments, Format::text);
  if (!format || !takes_nothing(arguments)) return kNoAnswer;
  const std::vector<vram::Accelerator> list = accelerators();
  print(*format == Format::json ? gpus_json(list) : write_table(gpu_table(list, *format), *format));
  return kAnswered;
}

}  // namespace cli
