#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

#include "engine/report/report.h"
#include "tests/engine/plan_samples.h"
#include "tests/engine/report_random_plans.h"

using namespace vram;

namespace {

/// Many keys at the ends of their ranges.
std::string extreme_share(uint32_t seed) {
  samples::Random random(seed);
  std::string share = random.below(4) == 0 ? RandomPlan(seed).share() : "v=1";
  for (const Field& field : fields()) {
    if (field.kind == FieldKind::text || random.below(8) != 0) continue;
    const double ends[] = {field.least, field.most, std::min(field.least + 1, field.most), field.most / 3};
    const bool word = field.kind == FieldKind::choice;
    share += "&" + std::string(field.name) + "=" +
             (word ? samples::good_value(field, random.below(1000)) : write_number(ends[random.below(4)]));
  }
  return share;
}

struct Figure {
  const char* name;
  std::optional<double> value;
};

std::vector<Figure> figures_of(const Report& report) {
  const ComputeFigures& c = report.compute;
  const StepSeconds& step = c.step;
  const ServingBill& s = report.serving;
  std::vector<Figure> figures = {{"flops_per_token", c.flops_per_token},
                                 {"step_flops", c.step_flops},
                                 {"model_flops", c.model_flops},
                                 {"hardware_flops", c.hardware_flops},
                                 {"mfu", c.mfu},
                                 {"hfu", c.hfu},
                                 {"mfu_band", c.mfu_band},
                                 {"attention_share", c.attention_share},
                                 {"micro_batches", c.micro_batches},
                                 {"step_seconds", c.step_seconds},
                                 {"tokens_per_second", c.tokens_per_second},
                                 {"usd_per_billion_tokens", c.usd_per_billion_tokens},
                                 {"days", c.days},
                                 {"gpu_hours", c.gpu_hours},
                                 {"usd", c.usd},
                                 {"kwh", c.kwh},
                                 {"napkin_flops", c.napkin_flops},
                                 {"step.matrices", step.matrices},
                                 {"step.attention", step.attention},
                                 {"step.memory", step.memory},
                                 {"step.optimizer", step.optimizer},
                                 {"step.host", step.host},
                                 {"step.link", step.link},
                                 {"step.network", step.network},
                                 {"step.bubble", step.bubble},
                                 {"serving.max_concurrency", s.max_concurrency},
                                 {"serving.max_concurrency_p99", s.max_concurrency_p99},
                                 {"serving.max_concurrency_at_max_len", s.max_concurrency_at_max_len},
                                 {"serving.max_concurrency_at_tpot", s.max_concurrency_at_tpot},
                                 {"serving.max_concurrency_at_ttft", s.max_concurrency_at_ttft},
                                 {"serving.promised_concurrency", s.promised_concurrency},
                                 {"serving.longest_context", s.longest_context},
                                 {"serving.kv_unused_share", s.kv_unused_share},
                                 {"serving.replicas_needed", s.replicas_needed},
                                 {"serving.flops_per_token", s.flops_per_token},
                                 {"serving.prefill_seconds", s.prefill_seconds},
                                 {"serving.ttft_seconds", s.ttft_seconds},
                                 {"serving.ttft_burst_seconds", s.ttft_burst_seconds},
                                 {"serving.decode_seconds_per_token", s.decode_seconds_per_token},
                                 {"serving.tokens_per_second", s.tokens_per_second},
                                 {"serving.requests_per_second", s.requests_per_second},
                                 {"serving.usd_per_million_tokens", s.usd_per_million_tokens},
                                 {"serving.speed_band", s.speed_band},
                                 {"serving.swapped_requests", s.swapped_requests},
                                 {"serving.napkin.max_concurrency", s.napkin.max_concurrency},
                                 {"serving.napkin.flops_per_token", s.napkin.flops_per_token}};
  for (const Traffic& traffic : c.traffic) {
    figures.push_back({traffic.line.id, traffic.seconds});
    figures.push_back({traffic.line.id, traffic.exposed_seconds});
    figures.push_back({traffic.line.id, traffic.cover_seconds});
  }
  return figures;
}

/// The word by itself: no "information", no "nemotron-nano".
bool has_word(std::string_view text, std::string_view word) {
  const auto letter = [&](size_t i) { return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i])); };
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1))
    if (!(at > 0 && letter(at - 1)) && !letter(at + word.size())) return true;
  return false;
}

/// Counts the figures there are; all of them finite and none below zero.
size_t check_figures(const std::string& share) {
  CAPTURE(share);
  const Report result = report(share);
  size_t seen = 0;
  for (const Figure& figure : figures_of(result)) {
    if (!figure.value) continue;
    ++seen;
    CAPTURE(figure.name);
    CHECK(std::isfinite(*figure.value));
    CHECK(*figure.value >= 0);
  }
  for (const std::string& face : {report_json(result), report_text(result), report_markdown(result)})
    for (const char* word : {"inf", "nan", "infinity", "null"}) CHECK_FALSE(has_word(face, word));
  return seen;
}

}  // namespace

TEST_CASE("no figure of random and extreme plans is infinite, no number, or less than nothing") {
  size_t seen = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    seen += check_figures(RandomPlan(seed).share());
    seen += check_figures(extreme_share(seed));
  }
  CHECK(seen > 5000);
}

TEST_CASE("no figure of tens of thousands of extreme plans is infinite, no number, or less than nothing", "[.long]") {
  for (uint32_t seed = 0; seed < 20000; ++seed) check_figures(extreme_share(seed));
}
