#include "engine/training/activations.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "engine/sheet.h"
#include "engine/training/bands.h"
#include "engine/training/prompts.h"
#include "engine/training/states.h"
#include "engine/training/storage.h"

namespace vram {
namespace {

constexpr const char* kActivationsNote =
    "the tensors that autograd saves, measured on the libraries' layers with PyTorch 2.6";
constexpr double kMixerBand = 0.5;  // linear attention and state spaces: an estimate without measured figures

void add_tensor(const SavedTensor& tensor, double layers, std::vector<SavedSum>& sums) {
  for (SavedSum& sum : sums) {
    if (sum.tensor.area != tensor.area || std::string_view(sum.tensor.id) != tensor.id) continue;
    const double width = tensor.width * (tensor.bytes / sum.tensor.bytes) * (sum.tensor.split / tensor.split);
    sum.alike &= width == sum.tensor.width;
    sum.layers += layers;
    sum.elements += layers * width;
    return;
  }
  if (tensor.width > 0 && tensor.bytes > 0) sums.push_back({tensor, layers, layers * tensor.width, true});
}

void add(const SavedTensors& tensors, double layers, std::vector<SavedSum>& sums) {
  if (layers <= 0) return;
  for (const SavedTensor& tensor : tensors) add_tensor(tensor, layers, sums);
}

/// 0.1 rather than 0.09999999999999998: as many decimals as a line counts.
double tidy(double value) { return std::nearbyint(value * 1e9) / 1e9; }

/// What multiplies a stage's saved tensors beside layers and tokens.
struct InFlight {
  double chunks_in_flight = 1, chunks = 1;
  double kept_share = 1;  // not offloaded
};

Factors tensor_factors(const Plan& plan, const SavedSum& sum, const InFlight& in_flight) {
  const SavedTensor& t = sum.tensor;
  Factors factors;
  if (sum.alike && sum.layers != 1) factors.push_back(times("L", sum.layers, "layers"));
  push_tokens(plan, factors);
  factors.push_back(sum.alike ? times(t.symbol, t.width, t.meaning)
                              : times("Σ", sum.elements, "elements over the layers"));
  factors.push_back(times("B", t.bytes, "bytes each"));
  if (in_flight.chunks_in_flight != 1)
    factors.push_back(
        times("m", in_flight.chunks_in_flight, in_flight.chunks == 1 ? "micro-batches in flight" : "chunks in flight"));
  if (in_flight.chunks != 1) factors.push_back(over("v", in_flight.chunks, "chunks of the stage"));
  if (t.split > 1) factors.push_back(over("tp", t.split, "tensor parallel"));
  if (in_flight.kept_share != 1) factors.push_back(times("kept", in_flight.kept_share, "share kept on the GPU"));
  return factors;
}

double band_share(const SavedTensor& t) {
  if (t.area == Area::mixer) return kMixerBand;
  return t.area == Area::moe ? kExpertsBand : kActivationsBand;
}

Line tensor_leaf(Sheet& sheet, const Plan& plan, const SavedSum& sum, const InFlight& in_flight) {
  const SavedTensor& t = sum.tensor;
  return sheet.leaf(t.id, t.label, tensor_factors(plan, sum, in_flight), t.note, band_share(t));
}

Amount sum_amount(const Plan& plan, const std::vector<SavedSum>& sums, const InFlight& in_flight) {
  Amount amount;
  for (const SavedSum& sum : sums)
    if (sum.layers > 0) amount += product(tensor_factors(plan, sum, in_flight), band_share(sum.tensor));
  return amount;
}

struct AreaName {
  Area area;
  const char* id;
  const char* label;
};

constexpr AreaName kAreas[] = {{Area::norms, "norms", "Norms and residual"},
                               {Area::attention, "attention", "Attention"},
                               {Area::mixer, "mixer", "Linear mixers"},
                               {Area::mlp, "mlp", "MLP"},
                               {Area::moe, "moe", "Experts"},
                               {Area::adapters, "adapters", "Inputs of adapters"},
                               {Area::dropout, "dropout", "Dropout"}};

LineList area_lines(Sheet& sheet, const Plan& plan, const std::vector<SavedSum>& sums, const InFlight& in_flight) {
  LineList areas(sheet, std::size(kAreas) + 4);  // checkpoints, outputs and the working layer may follow
  for (const AreaName& name : kAreas) {
    const auto belongs = [&name](const SavedSum& sum) { return sum.tensor.area == name.area && sum.layers > 0; };
    LineList children(sheet, static_cast<size_t>(std::count_if(sums.begin(), sums.end(), belongs)));
    for (const SavedSum& sum : sums)
      if (belongs(sum)) children.push_back(tensor_leaf(sheet, plan, sum, in_flight));
    if (!children.empty()) areas.push_back(sheet.sum(name.id, name.label, children));
  }
  return areas;
}

/// Layers of the stage that recomputation applies to: `recompute_layers` of all layers, evenly over the stages.
double recomputed_layers(const Plan& plan, const Stage& stage) {
  if (plan.recompute == Recompute::none || plan.layers <= 0) return 0;
  return std::floor(stage.layers * std::min(1.0, plan.recompute_layers / plan.layers));
}

double checkpoint_bytes(const Plan& plan, const LayerSetting& s, Moment moment) {
  return moment == Moment::backward && holds_layer_inputs(plan) ? 2 * s.residual : s.residual;
}

SavedSum checkpoints(const Plan& plan, const LayerSetting& s, double layers, Moment moment) {
  const SavedTensor input = {"checkpoints",
                             "Checkpoints",
                             Area::norms,
                             "h",
                             "hidden",
                             s.h,
                             checkpoint_bytes(plan, s, moment),
                             s.sp,
                             "full recomputation keeps a layer's input: arXiv 2205.05198, section 5"};
  return {input, layers, layers * s.h, true};
}

/// DeepSpeed's pipeline keeps what a stage sent on until its gradient comes back (runtime/pipe/engine.py,
/// pipe_buffers); Megatron frees it (deallocate_pipeline_outputs).
SavedSum stage_outputs(const LayerSetting& s) {
  const SavedTensor output = {"outputs",
                              "Outputs of the stage",
                              Area::norms,
                              "h",
                              "hidden",
                              s.h,
                              s.residual,
                              s.sp,
                              "DeepSpeed, runtime/pipe/engine.py, pipe_buffers"};
  return {output, 1, s.h, true};
}

/// The kind of layer of the stage that keeps most.
std::optional<size_t> heaviest_kind(const Plan& plan, const Stage& stage, const ModelTensors& tensors) {
  std::optional<size_t> heaviest;
  for (size_t k = 0; k < tensors.kinds.size(); ++k) {
    if (layers_of_kind(*plan.subject, stage, k) <= 0) continue;
    if (!heaviest || tensors.kinds[k].whole_bytes > tensors.kinds[*heaviest].whole_bytes) heaviest = k;
  }
  return heaviest;
}

/// Backward's own tensors.
Factors gradient_factors(const Plan& plan, double bytes_per_token) {
  Factors factors;
  push_tokens(plan, factors);
  factors.push_back(times("B/token", bytes_per_token, "bytes a token"));
  return factors;
}

std::vector<SavedSum> one_layer(const SavedTensors& tensors) {
  std::vector<SavedSum> sums;
  sums.reserve(tensors.size());
  add(tensors, 1, sums);
  return sums;
}

Amount working_amount(const Plan& plan, const std::vector<SavedSum>& sums, double gradient_bytes) {
  Amount amount = sum_amount(plan, sums, {});
  amount += product(gradient_factors(plan, gradient_bytes), kActivationsBand);
  return amount;
}

InFlight in_flight_of(const Plan& plan, double chunks_in_flight, double chunks) {
  InFlight in_flight{chunks_in_flight, chunks, 1};
  if (plan.offload == Offload::activations) in_flight.kept_share = 1 - plan.offload_fraction;
  return in_flight;
}

/// What the stage's layers save, those that are checkpointed whole left out. Prediction modules are as the layers.
std::vector<SavedSum> stage_sums(const Plan& plan, const Stage& stage, const ModelTensors& tensors) {
  const double recomputed = recomputed_layers(plan, stage) / stage.layers;
  std::vector<SavedSum> sums;
  if (!tensors.kinds.empty()) sums.reserve(tensors.kinds.front().whole.size());
  for (size_t k = 0; k < tensors.kinds.size(); ++k) {
    const double layers = differentiated_layers(plan, stage, k);
    add(tensors.kinds[k].whole, tidy(layers * (1 - recomputed)), sums);
    add(tensors.kinds[k].selected, tidy(layers * recomputed), sums);
  }
  if (prediction_modules(plan, stage) <= 0) return sums;
  for (const LayerTensors& module : tensors.modules) {
    if (recomputed < 1) add(module.whole, 1, sums);
    if (recomputed == 1) add(module.selected, 1, sums);
  }
  return sums;
}

}  // namespace

void push_tokens(const Plan& plan, Factors& factors) {
  if (plan.micro_batch != 1) factors.push_back(times("b", plan.micro_batch, "sequences"));
  factors.push_back(times("s", plan.seq, "tokens"));
  if (plan.cp > 1) factors.push_back(over("cp", plan.cp, "context parallel"));
}

const WorkingLayer& WorkingLayers::of(size_t kind) {
  std::optional<WorkingLayer>& known = layers_[kind];
  if (known) return *known;
  const LayerTensors& tensors = tensors_.kinds[kind];
  WorkingLayer layer;
  layer.recomputed = one_layer(recomputed_tensors(plan_, tensors));
  layer.last = one_layer(tensors.whole);
  layer.gradient_bytes = tensors.gradient_bytes;
  layer.in_backward = working_amount(plan_, layer.recomputed, layer.gradient_bytes);
  layer.at_end = working_amount(plan_, layer.last, layer.gradient_bytes);
  return known.emplace(std::move(layer));
}

StageActivations::StageActivations(const Plan& plan, const Stage& stage, const ModelTensors& tensors,
                                   WorkingLayers& layers)
    : plan_(plan), chunks_(stage.chunks) {
  if (!plan.subject->has_shape || stage.layers <= 0) return;
  saved_ = stage_sums(plan, stage, tensors);
  const double checkpointed = plan.recompute == Recompute::full ? recomputed_layers(plan, stage) : 0;
  const double modules = checkpointed == stage.layers ? prediction_modules(plan, stage) : 0;
  if (checkpointed > 0) {
    const LayerSetting& s = tensors.kinds.front().setting;
    checkpoints_ = {checkpoints(plan, s, checkpointed + modules, Moment::forward)};
    widened_checkpoints_ = {checkpoints(plan, s, checkpointed + modules, Moment::backward)};
  }
  if (plan.framework == Framework::deepspeed && !stage.last) outputs_ = {stage_outputs(tensors.kinds.front().setting)};
  for (size_t k = 0; k < tensors.kinds.size(); ++k)
    add(outliving_tensors(plan, tensors.kinds[k].setting, plan.subject->kinds[k]),
        layers_of_kind(*plan.subject, stage, k), outliving_);
  if (const std::optional<size_t> kind = heaviest_kind(plan, stage, tensors)) working_ = &layers.of(*kind);
}

/// The layer under differentiation: what of it is computed again (all of it where no other is left), and its gradients.
Line StageActivations::working_line(Sheet& sheet, const std::vector<SavedSum>& sums) const {
  LineList children = area_lines(sheet, plan_, sums, {});
  children.push_back(sheet.leaf(
      "gradients", "Gradients of activations", gradient_factors(plan_, working_->gradient_bytes),
      "two gradients of the inner width, one of the layer's output; measured on PyTorch 2.6", kActivationsBand));
  return sheet.sum("working", "Layer in backward", children);
}

std::array<Line, kMoments> StageActivations::lines(Sheet& sheet, double chunks_in_flight) const {
  if (working_ == nullptr) {
    const Line none = sheet.nothing("activations", "Activations");
    return {none, none, none};
  }
  const InFlight in_flight = in_flight_of(plan_, chunks_in_flight, chunks_);
  const InFlight never_offloaded = {chunks_in_flight, chunks_};
  LineList forward = area_lines(sheet, plan_, saved_, in_flight);
  LineList backward(sheet, forward.size() + 4);
  backward.append(forward);
  for (const SavedSum& sum : checkpoints_) forward.push_back(tensor_leaf(sheet, plan_, sum, in_flight));
  for (const SavedSum& sum : widened_checkpoints_) backward.push_back(tensor_leaf(sheet, plan_, sum, in_flight));
  for (const SavedSum& sum : outputs_) {
    forward.push_back(tensor_leaf(sheet, plan_, sum, never_offloaded));
    backward.push_back(forward.back());
  }
  for (const SavedSum& sum : outliving_) forward.push_back(tensor_leaf(sheet, plan_, sum, {}));
  backward.push_back(working_line(sheet, working_->recomputed));
  return {sheet.sum("activations", "Activations", forward, kActivationsNote),
          sheet.sum("activations", "Activations", backward, kActivationsNote),
          sheet.group("activations", "Activations", {working_line(sheet, working_->last)})};
}

std::array<Amount, kMoments> StageActivations::amounts(double chunks_in_flight) const {
  if (working_ == nullptr) return {};
  const InFlight in_flight = in_flight_of(plan_, chunks_in_flight, chunks_);
  Amount forward = sum_amount(plan_, saved_, in_flight);
  forward += sum_amount(plan_, outputs_, {chunks_in_flight, chunks_});
  Amount backward = forward;
  forward += sum_amount(plan_, checkpoints_, in_flight);
  forward += sum_amount(plan_, outliving_, {});
  backward += sum_amount(plan_, widened_checkpoints_, in_flight);
  backward += working_->in_backward;
  return {forward, backward, working_->at_end};
}

double offloaded_activation_bytes(const Plan& plan, const Stage& stage, const ModelTensors& tensors) {
  if (plan.offload != Offload::activations) return 0;
  Plan whole = plan;
  whole.offload = Offload::none;
  const auto forward = [&](const Plan& p) {
    WorkingLayers layers(p, tensors);
    const StageActivations activations(p, stage, tensors, layers);
    return static_cast<double>(activations.amounts(stage.chunks_in_flight)[static_cast<size_t>(Moment::forward)].bytes);
  };
  return forward(whole) - forward(plan);
}

}  // namespace vram
