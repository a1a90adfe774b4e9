#include "engine/plan/model_basis.h"

#include <utility>

#include "engine/model/config_json.h"
#include "engine/preset_table.h"

namespace vram {
namespace {

constexpr std::string_view kCustom = "custom";

const PresetRow* find_model(std::string_view id) {
  for (const PresetRow& row : model_presets()) {
    if (row.id == id) return &row;
  }
  return nullptr;
}

void name_subject(const std::string& id, const ConfigReading& reading, Model& model) {
  model.id = id;
  model.name = id == kCustom ? "Custom model" : reading.name;
  model.source = reading.source;
  model.published_parameters = reading.published_parameters;
}

/// What `model` and `arch` say, before any other key.
std::optional<ConfigReading> read_base(const Plan& plan) {
  if (plan.model != kCustom) {
    const PresetRow* row = find_model(plan.model);
    if (row == nullptr) return std::nullopt;
    return read_config(row->json);
  }
  if (!plan.arch.empty()) return read_config(plan.arch, /*partial=*/true);
  return ConfigReading{};
}

bool same_model_keys(const Plan& plan, const Architecture& architecture) {
#define VRAM_KEY(name) plan.name == architecture.name&&
  return VRAM_ARCHITECTURE_KEYS(VRAM_KEY) true;
#undef VRAM_KEY
}

void put_model_keys(const Plan& plan, Architecture& architecture) {
#define VRAM_KEY(name) architecture.name = plan.name;
  VRAM_ARCHITECTURE_KEYS(VRAM_KEY)
#undef VRAM_KEY
}

}  // namespace

void load_base(Plan& plan) {
  if (plan.basis && plan.basis->model == plan.model && plan.basis->arch == plan.arch) return;
  plan.base_architecture = nullptr;
  plan.subject = nullptr;
  auto basis = std::make_shared<ModelBasis>();
  basis->model = plan.model;
  basis->arch = plan.arch;
  if (std::optional<ConfigReading> reading = read_base(plan)) {
    auto unbuilt = std::make_shared<Model>();
    name_subject(plan.model, *reading, *unbuilt);
    basis->base_faults = std::move(reading->faults);
    plan.base_architecture = std::make_shared<const Architecture>(std::move(reading->architecture));
    plan.subject = std::move(unbuilt);
    basis->params = -1;  // nothing built yet
  }
  plan.basis = std::move(basis);
}

void build_subject(Plan& plan) {
  if (!plan.base_architecture) return;
  const double params = plan.has(Key::params) ? plan.params : 0;
  if (plan.basis->params != params || !same_model_keys(plan, plan.basis->merged)) {
    auto basis = std::make_shared<ModelBasis>(*plan.basis);
    basis->merged = *plan.base_architecture;
    put_model_keys(plan, basis->merged);
    basis->params = params;
    basis->subject_faults.clear();
    auto model = std::make_shared<Model>(build_model(basis->merged, params, &basis->subject_faults));
    model->id = plan.subject->id;
    model->name = plan.subject->name;
    model->source = plan.subject->source;
    model->published_parameters = plan.subject->published_parameters;
    plan.subject = std::move(model);
    plan.basis = std::move(basis);
  }
  if (!plan.has(Key::params)) {
    plan.params = plan.subject->exact_parameters;
  } else if (plan.params == plan.subject->exact_parameters) {
    plan.given.reset(static_cast<size_t>(Key::params));
  }
}

void load_accelerator(Plan& plan) {
  if (plan.accelerator && plan.accelerator->id == plan.gpu) return;
  plan.accelerator =
      plan.gpu == kCustom ? std::make_shared<const Accelerator>(custom_accelerator()) : find_accelerator(plan.gpu);
}

}  // namespace vram
