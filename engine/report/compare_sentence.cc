#include <cmath>
#include <string_view>

#include "engine/report/compare.h"
#include "engine/report/figures.h"

namespace vram {
namespace {

struct Clause {
  const char* id;
  const char* unit;    // behind "more": "requests at once"
  const char* behind;  // "a step"
};

constexpr Clause kTraining[] = {
    {"training.device_bytes", "", "a GPU"}, {"compute.step_seconds", "", "a step"}, {"compute.usd", "", "for the run"}};
constexpr Clause kServing[] = {{"serving.device_bytes", "", "a GPU"},
                               {"serving.max_concurrency", "requests", "at once"},
                               {"serving.decode_seconds_per_token", "", "a token"},
                               {"serving.usd_per_million_tokens", "", "a million tokens"}};

std::string clause_text(const Report& report, const ComparedFigure& figure, const Clause& clause) {
  const double gap = *figure.difference();
  std::string text = figure_text(report, figure.kind, std::fabs(gap)) + (gap < 0 ? " less" : " more");
  if (*clause.unit)
    text = figure_text(report, figure.kind, std::fabs(gap)) + (gap < 0 ? " fewer " : " more ") + clause.unit;
  return text + " " + clause.behind;
}

template <size_t n>
ComparisonSentence sentence_of(const Report& report, const Clause (&clauses)[n]) {
  const Comparison comparison = compare(report, *report.other);
  ComparisonSentence sentence;
  for (const Clause& clause : clauses) {
    for (const ComparedFigure& figure : comparison.figures) {
      if (std::string_view(figure.id) != clause.id || figure.difference().value_or(0) == 0) continue;
      const std::string text = clause_text(report, figure, clause);
      const int direction = (*figure.difference() < 0) == less_is_better(figure) ? -1 : 1;
      if (sentence.word.empty()) {
        sentence.word = text;
        sentence.direction = direction;
      } else {
        sentence.rest += ", " + text;
      }
    }
  }
  return sentence;
}

std::string verdicts(Verdict here, Verdict there) {
  if (here == there) return "";
  const auto fits = [](Verdict verdict) {
    return verdict == Verdict::fits      ? "fits"
           : verdict == Verdict::tight   ? "is tight"
           : verdict == Verdict::exceeds ? "does not fit"
                                         : "is impossible";
  };
  return std::string(" This plan ") + fits(here) + ", the other " + fits(there) + ".";
}

}  // namespace

ComparisonSentence comparison_sentence(const Report& report, bool serving) {
  ComparisonSentence sentence = serving ? sentence_of(report, kServing) : sentence_of(report, kTraining);
  if (sentence.word.empty()) sentence.word = serving ? "No difference in serving" : "No difference in training";
  sentence.rest += "." + (serving ? verdicts(report.serving.verdict, report.other->serving.verdict)
                                  : verdicts(report.training.verdict, report.other->training.verdict));
  return sentence;
}

bool compares_serving(const Report& report) {
  return comparison_sentence(report, false).direction == 0 && comparison_sentence(report, true).direction != 0;
}

std::vector<std::string> comparison_sentences(const Report& report) {
  const ComparisonSentence training = comparison_sentence(report, false), serving = comparison_sentence(report, true);
  return {"Training: " + training.word + training.rest, "Serving: " + serving.word + serving.rest};
}

}  // namespace vram
