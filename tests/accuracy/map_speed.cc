#include "engine/compute/rates.h"
#include "engine/report/report.h"
#include "tests/accuracy/map_training.h"

namespace vram::accuracy {
namespace {

struct Convention {
  const char* word;  // in the source, or in the formula that the case was checked with
  const char* flops;
};

// Who counts how (docs/METHODS.md).
constexpr Convention kConventions[] = {
    {"llm-foundry", "foundry"},
    {"torchtitan", "titan"},
    {"maxtext", "titan"},
    {"container 25.", "bridge-26.04"},
    {"container 26.02", "bridge-26.04"},
    {"container 26.04", "bridge-26.04"},
    {"nemo", "bridge"},
    {"palm paper", "palm"},
    {"12 l a d s/2", "bridge"},
    {"12lhs", "titan"},
    {"model card", "6n"},
    {"6nd", "6n"},
    // BLOOM's chronicles, "TFLOPs calculation improved": what stands before it is 3% less.
    {"choosing the fastest 3d topology", "kaplan"},
    {"tile and wave quantization", "kaplan"}};

std::string convention_of(const Mapping& m) {
  Words words;
  words.add(text(m.c, "source"));
  words.add(text(m.c, "check.formula"));
  for (const Convention& row : kConventions)
    if (words.has(row.word)) return row.flops;
  return "megatron";
}

double tokens_per_second_per_gpu(const json& c) {
  const double gpus = number(c, "n_gpus");
  for (const char* key : {"tokens_per_s_per_gpu", "tokens_per_s_per_device", "tokens_per_s_per_gpu_vanilla"})
    if (const double value = number(c, std::string("measured.") + key); value > 0) return value;
  if (const double total = number(c, "measured.tokens_per_s"); total > 0 && gpus > 0) return total / gpus;
  const double seconds = number(c, "measured.iteration_time_s"),
               tokens = number(c, "global_batch") * number(c, "model.seq");
  return seconds > 0 && gpus > 0 ? tokens / seconds / gpus : 0;
}

struct Published {
  double flops = 0;  // a second a GPU
  bool hardware = false;
};

/// FLOP/s as the source prints them.
Published published(const json& c, double peak) {
  for (const char* key : {"model_TFLOPs_per_gpu", "TFLOPs_per_gpu"})
    if (const double value = number(c, std::string("measured.") + key); value > 0) return {value * 1e12, false};
  if (const double value = number(c, "measured.TFLOPs_per_gpu_hardware"); value > 0) return {value * 1e12, true};
  if (const double value = number(c, "measured.MFU_pct"); value > 0) return {value / 100 * peak, false};
  return {};
}

Measurement begin(const Mapping& m, const Share& share, Figure figure) {
  Measurement out = begin(m, figure);
  out.share = share.text();
  return out;
}

/// MFU depends on format and mixture: they are sorted apart.
std::string sort_of(const Mapping& m, const Report& report) {
  const std::string precision = m.share.get("precision");
  std::string sort = report.plan.subject && report.plan.subject->architecture.experts > 0 ? ", MoE" : ", dense";
  if (precision.find("fp8") != std::string::npos || precision == "nvfp4") return sort + ", 8- and 4-bit";
  return sort + ", 16-bit";
}

struct Speeds {
  double measured = 0, model_flops = 0, hardware_flops = 0;  // tokens/s and FLOPs a token
};

void add_published(const Mapping& m, const Share& share, const Published& from, const Speeds& speeds, bool skip,
                   std::vector<Measurement>& out) {
  if (from.flops <= 0 || speeds.measured <= 0) return;
  Measurement one = begin(m, share, Figure::published_flops);
  one.measured = from.flops;
  one.tokens_per_second = speeds.measured;
  one.unit = "FLOP/s";
  if (from.hardware) one.part = "hardware";
  if (skip && one.skipped.empty()) one.skipped = "the model's shape is not stated";
  out.push_back(std::move(one));
}

/// Where a source gives GPU-hours and no layout: one that was usual for such a model.
void suppose_layout(Share& share) {
  const Plan plan = read_plan(share.text()).plan;
  const double parameters = plan.subject ? plan.subject->nominal_parameters : 0;
  share.set("gpus", 1024.0);
  share.set("framework", "megatron");
  share.set("library", "megatron");
  share.set("fused_optimizer", "1");
  if (parameters > 3e10 && plan.subject->architecture.experts == 0) share.set("tp", 8.0);
  if (parameters > 1e11) share.set("pp", 8.0);
  if (plan.subject && plan.subject->architecture.experts > 0) {  // as DeepSeek-V3's, arXiv 2412.19437 section 3.2
    share.set("pp", 16.0);
    share.set("ep", 64.0);
    share.set("schedule", "dualpipe");
    share.set("precision", "fp8");
  }
  share.set("global_batch", 2048.0);
}

void add_run(const Mapping& m, Share share, std::vector<Measurement>& out) {
  const double hours = number(m.c, "measured.gpu_hours"), flops = number(m.c, "measured.total_FLOPs");
  if (hours <= 0 && flops <= 0) return;
  share.set_if("tokens", number(m.c, "model.tokens"));
  if (number(m.c, "n_gpus") == 0) suppose_layout(share);
  Measurement one = begin(m, share, hours > 0 ? Figure::gpu_hours : Figure::total_flops);
  one.measured = hours > 0 ? hours : flops;
  one.unit = hours > 0 ? "GPU-hours" : "FLOPs";
  if (hours > 0 && text(m.c, "gpu").empty()) one.skipped = "the GPU is not stated";
  out.push_back(std::move(one));
}

}  // namespace

void add_speed(const Mapping& m, std::vector<Measurement>& out) {
  Share share = m.share;
  share.set("flops", convention_of(m));
  add_run(m, share, out);
  Speeds speeds;
  speeds.measured = tokens_per_second_per_gpu(m.c);
  const std::string kind = text(m.c, "kind");
  const Report answer = report(share.text());
  if (!answer.answered) return;
  speeds.model_flops = answer.compute.flops_per_token.value_or(0);
  const double mfu = answer.compute.mfu.value_or(1);
  speeds.hardware_flops = speeds.model_flops * answer.compute.hfu.value_or(mfu) / mfu;
  const double peak = peak_flops(answer.plan);
  const Published from = published(m.c, peak);
  if (speeds.measured <= 0 && from.flops > 0 && speeds.model_flops > 0 && kind == "throughput")
    speeds.measured = from.flops / (from.hardware ? speeds.hardware_flops : speeds.model_flops);
  else
    add_published(m, share, from, speeds, !answer.plan.subject->has_shape, out);
  if (speeds.measured <= 0 || (kind != "throughput" && from.flops <= 0)) return;
  Measurement one = begin(m, share, Figure::speed);
  one.family += sort_of(m, answer);
  one.measured = speeds.measured;
  one.unit = "tokens/s";
  if (one.skipped.empty() && text(m.c, "gpu").empty()) one.skipped = "the GPU is not stated";
  if (one.skipped.empty() && number(m.c, "n_gpus") == 0) one.skipped = "the number of GPUs is not stated";
  if (one.skipped.empty() && text(m.c, "precision").find("not stated") != std::string::npos)
    one.skipped = "the precision is not stated";
  if (one.skipped.empty() && !answer.plan.subject->has_shape) one.skipped = "the model's shape is not stated";
  out.push_back(std::move(one));
}

}  // namespace vram::accuracy
