// The pictures of the Serve view.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "engine/formats.h"
#include "engine/serving/kv_cache.h"
#include "web/charts.h"

namespace vram {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Hues for what is no line of the bill, from the bill's own palette.
constexpr const char* kHues[] = {"weights", "kv_cache", "optimizer", "adapters", "gradients", "logits"};
uint32_t hue(size_t i) { return line_rgb({}, kHues[i % std::size(kHues)]); }

/// Widths that an engine's KV cache comes in (its own flags), the plan's among them, the widest first.
std::vector<std::string> cache_formats(const Plan& plan) {
  std::vector<std::string> ids;
  switch (plan.engine) {
    case Engine::llamacpp:
      ids = {"fp16", "q8_0", "q4_0"};
      break;
    case Engine::vllm:
    case Engine::sglang:
    case Engine::trtllm:
      ids = {"bf16", "fp8", "nvfp4"};
      break;
    case Engine::generic:
    case Engine::static_:
      ids = {"bf16", "fp8", "int4"};
  }
  const auto bits = [](const std::string& id) {
    const Format* format = find_format(id);
    return format ? format->bits : 16;
  };
  std::erase_if(ids, [&](const std::string& id) { return bits(id) == bits(plan.kv); });
  ids.push_back(plan.kv);
  std::stable_sort(ids.begin(), ids.end(), [&](const auto& a, const auto& b) { return bits(a) > bits(b); });
  return ids;
}

/// Whole requests, doubling up to the longest that the engine admits; the plan's own among them.
std::vector<double> contexts_of(const Plan& plan, double own) {
  const double longest = std::max(plan.max_len > 0 ? plan.max_len : 131072, own);
  std::vector<double> contexts = {own};
  for (double tokens = 512; tokens <= longest; tokens *= 2)
    if (tokens > plan.output + plan.prefix && tokens != own) contexts.push_back(tokens);
  std::sort(contexts.begin(), contexts.end());
  return contexts;
}

double requests_at(Plan plan, double context) {
  plan.prompt = context - plan.output;
  const ServingBill bill = serving_bill(plan);
  return bill.verdict == Verdict::invalid || !bill.max_concurrency ? kNone : *bill.max_concurrency;
}

Chart concurrency_chart(const Report& report) {
  const Plan& plan = report.plan;
  Chart chart{.name = "chart.concurrency",
              .title = "Requests at a time against their length",
              .kind = Chart::Kind::lines,
              .measure = Chart::Measure::requests,
              .legend = true};
  const double own = plan.prompt + plan.output;
  const std::vector<double> contexts = contexts_of(plan, own);
  if (own <= 0 || contexts.size() < 3) return chart;
  const double octaves = std::log2(contexts.back() / contexts.front());
  for (const double context : contexts) {
    const bool is_own = context == own;
    if (is_own) chart.own = static_cast<int>(chart.points.size());
    chart.points.push_back({std::log2(context / contexts.front()) / octaves, short_tokens(context),
                            show_grouped(context) + " tokens a request",
                            is_own ? "" : "prompt=" + write_number(context - plan.output)});
  }
  const std::vector<std::string> formats = cache_formats(plan);
  for (size_t i = 0; i < formats.size(); i++) {
    Plan with = plan;
    std::string change;
    for (const Key key : {Key::kv, Key::kv_values}) {
      if (formats[i] == plan.kv || (key == Key::kv_values && !plan.has(key))) continue;
      if (set_value(with, key, formats[i], nullptr))
        change += (change.empty() ? "" : "&") + std::string(field(key).name) + "=" + formats[i];
    }
    Chart::Series series{formats[i], hue(i), {}, change};
    for (const double context : contexts) series.values.push_back(requests_at(with, context));
    const auto known = [](double value) { return value >= 1; };
    if (std::any_of(series.values.begin(), series.values.end(), known)) chart.series.push_back(std::move(series));
  }
  return chart;
}

/// Evenly over the request, with the prompt's end among them.
std::vector<double> moments_of(double prompt, double total) {
  constexpr int kSteps = 48;
  std::vector<double> moments = {prompt};
  for (int i = 0; i <= kSteps; i++) moments.push_back(std::round(total * i / kSteps));
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  return moments;
}

Chart request_chart(const Report& report) {
  const Plan& plan = report.plan;
  Chart chart{.name = "chart.request",
              .title = "The KV cache of one request as it grows",
              .units = plan.units == UnitsChoice::gb ? Units::gb : Units::gib};
  const double total = plan.prompt + plan.output;
  const std::vector<CacheGroup> groups = cache_groups(plan, Replica{}, whole_model(plan));
  if (groups.empty() || total < 2) return chart;
  for (const double tokens : moments_of(plan.prompt, total)) {
    Sheet sheet;
    const LineList lines = request_lines(sheet, plan, groups, 1, tokens);
    const double generated = tokens - plan.prompt;
    const size_t at = chart.points.size();
    Chart::Point point{tokens / total, "", show_grouped(tokens) + " tokens",
                       generated > 0 ? "output=" + write_number(generated) : "prompt=" + write_number(tokens)};
    if (tokens == 0) point.tick = "0", point.change = "";
    if (tokens == plan.prompt) point.tick = "prompt " + short_tokens(tokens);
    if (tokens == total) point.tick = short_tokens(tokens), point.change = "";
    chart.points.push_back(std::move(point));
    for (size_t i = 0; i < lines.size(); i++) {
      if (at == 0) chart.series.push_back({lines[i].label, hue(i + 1), {}});
      chart.series[i].values.push_back(static_cast<double>(lines[i].bytes));
    }
  }
  chart.legend = chart.series.size() > 1;
  return chart;
}

}  // namespace

std::span<const ChartMaker> serve_charts() {
  static constexpr ChartMaker kMakers[] = {concurrency_chart, request_chart};
  return kMakers;
}

}  // namespace vram
