#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/units.h"
#include "tests/accuracy/alias.h"
#include "tests/accuracy/amount.h"
#include "tests/accuracy/print.h"

namespace vram::accuracy {
namespace {

constexpr const char* kHead = R"(# Accuracy

Measured against estimated, case by case. This page is written by the program:

    build/native/vram-accuracy tests/cases/*.json --format markdown > docs/ACCURACY.md

`median` and `p90` are of |estimate ÷ measured − 1|; `bias` is the median of estimate ÷ measured − 1; `in 0.5%` and `in
2%` are the shares of measurements that near, `inside` that inside the printed band, and `width` the median half-width of
that band ÷ the estimate. A bound is what the tests hold a family to. Rows that begin with "all" put families together.
Where a figure is no size (a job that ran, one that ran out of memory, a wrong formula that must not come out), 0 is
right and 100 wrong.

Which sum of lines answers which figure:

| figure | lines |
| --- | --- |
| states | weights + gradients + optimizer |
| states and buffers | DeepSpeed's estimator: weights + optimizer + fp32 gradients; ZeRO 2 with whole 16-bit gradients, ZeRO 3 with 4 bytes of each parameter of the largest layer, which the case names |
| static | what lies between two steps: weights, optimizer, adapters, workspaces, and gradients where buffers keep them |
| allocated | weights … buffers of the fullest phase (`torch.cuda.max_memory_allocated`) |
| reserved | those and fragmentation (`torch.cuda.max_memory_reserved`) |
| device | those, context and communication (`nvidia-smi`) |
| activations of a layer, saved bytes a token | the activations line at the end of forward, of one layer |
| KV pool | the KV cache line; its error counts against the memory that the engine may use |

A Megatron-LM log is that of the last rank and is compared with the last pipeline stage; `nvidia-smi` counts in MiB, so
that its "GB" are GiB. Where two runs have the same share string and different measurements, no estimate does better
than their spread: two releases of one library differ by up to 4.6% in the peak on a GPU, and by up to 5.6% in what
`nvidia-smi` shows.
)";

std::string bound_cell(const Score& score) {
  if (!score.has_bound) return "";
  return show_share(score.bound_median) + " / " + show_share(score.bound_p90);
}

std::string family_table(const std::vector<Score>& scores) {
  std::string out =
      "\n## By family\n\n| family | figure | cases | median % | p90 % | bias % | in 0.5% | in 2% | inside % | width % "
      "| bound % |\n"
      "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
  for (const Score& s : scores) {
    if (s.n == 0) continue;
    out += "| " + s.family + " | " + figure_name(s.figure) + " | " + std::to_string(s.n);
    for (double share : {s.median, s.p90, s.bias, s.very_near, s.near, s.coverage, s.half_width})
      out += " | " + show_share(share);
    out += " | " + bound_cell(s) + " |\n";
  }
  return out;
}

/// How well any estimate could do: half the spread of cases that are one and the same plan.
std::string floor_table(const std::vector<Measurement>& measurements) {
  std::string out =
      "\n## The floor\n\nCases that are one and the same plan, and half their spread: what no key tells apart "
      "(releases of a "
      "library, state of the\nallocator, load of the machine room). Spreads below 0.5% are left out.\n\n"
      "| family | figure | cases | half-spread % |\n| --- | --- | --- | ---: |\n";
  for (const Alias& alias : aliases(measurements)) {
    if (alias.half_spread < 0.005) continue;
    std::string ids;
    for (const std::string& id : alias.ids) ids += (ids.empty() ? "" : ", ") + id;
    out += "| " + alias.family + " | " + figure_name(alias.figure) + " | " + ids + " | " +
           show_share(alias.half_spread) + " |\n";
  }
  return out;
}

std::string case_row(const Measurement& m) {
  std::string row = "| " + m.id + " | " + figure_name(m.figure) + " | " + amount(m.measured, m.unit) + " | " +
                    amount(m.estimate, m.unit) + " | " + show_fixed(m.ratio(), 3) + " | ";
  return row + "`" + m.share + "` |\n";
}

}  // namespace

std::string accuracy_page(const std::vector<Measurement>& measurements, const std::vector<Score>& scores) {
  std::string out = kHead + family_table(scores) + floor_table(measurements);
  std::map<std::string, std::vector<const Measurement*>> families;
  for (const Measurement& m : measurements)
    if (m.skipped.empty()) families[m.family].push_back(&m);
  out += "\n## Case by case\n";
  for (const auto& [family, rows] : families) {
    out += "\n### " + family + "\n\n| case | figure | measured | estimated | ratio | plan |\n";
    out += "| --- | --- | ---: | ---: | ---: | --- |\n";
    for (const Measurement* row : rows) out += case_row(*row);
  }
  return out;
}

namespace {

nlohmann::ordered_json number_or_infinite(double value) {
  return std::isinf(value) ? nlohmann::ordered_json("inf") : nlohmann::ordered_json(value);
}

}  // namespace

std::string own_cases(const std::vector<Measurement>& measurements) {
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  for (const Measurement& m : measurements) {
    if (!m.skipped.empty()) continue;
    nlohmann::ordered_json c;
    c["id"] = m.id;
    c["family"] = m.family;
    c["figure"] = figure_name(m.figure);
    c["share"] = m.share;
    c["measured"] = m.measured;
    c["unit"] = m.unit;
    if (m.best) c["tier"] = "A";
    if (!m.part.empty()) c["part"] = m.part;
    if (m.reading != Reading::fullest) c["reading"] = reading_name(m.reading);
    if (m.tokens_per_second > 0) c["tokens_per_second"] = m.tokens_per_second;
    if (m.relative_to > 0) c["relative_to"] = m.relative_to;
    if (m.requests > 0) c["requests"] = m.requests;
    if (m.rate > 0) c["rate"] = number_or_infinite(m.rate);
    if (m.waiting > 0) c["waiting"] = m.waiting;
    if (m.of_tokens) c["of_tokens"] = true;
    if (m.of_steps) c["of_steps"] = true;
    if (m.apart) c["apart"] = true;
    if (m.longest > 0) c["longest"] = number_or_infinite(m.longest);
    if (m.rounding > 0) c["rounding"] = m.rounding;
    if (m.largest_layer > 0) c["largest_layer"] = m.largest_layer;
    c["source"] = m.source;
    cases.push_back(std::move(c));
  }
  nlohmann::ordered_json file;
  file["cases"] = std::move(cases);
  return file.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace vram::accuracy
