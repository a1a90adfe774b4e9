#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/report/report.h"

namespace vram {

/// A key in which two plans differ, and its value in each; a value that only follows from others is no difference.
struct ComparedKey {
  Key key;
  std::string here, there;
};

/// A line of a bill in both plans; empty where a plan has no such line.
struct ComparedLine {
  std::string path;   // "weights/attention"
  const char* label;  // of the line itself
  int depth = 0;
  std::optional<uint64_t> here, there;

  int64_t difference() const {
    return static_cast<int64_t>(here.value_or(0)) - static_cast<int64_t>(there.value_or(0));
  }
};

enum class FigureKind : uint8_t { bytes, seconds, usd, share, count };

/// A figure that at least one of the plans has.
struct ComparedFigure {
  const char* id;     // "compute.step_seconds": where the JSON report has it
  const char* label;  // "Step"
  FigureKind kind;
  std::optional<double> here, there;

  /// Empty where one of the plans does not have it.
  std::optional<double> difference() const;
};

/// Two plans side by side; differences are what this plan has more than the other.
struct Comparison {
  std::vector<ComparedKey> keys;
  std::vector<ComparedLine> training, serving;
  std::vector<ComparedFigure> figures;
};

/// Of answered reports. Lines of nothing on both sides are left out.
Comparison compare(const Report& here, const Report& there);

/// "7.86 GiB less a GPU" and ", 1.73 s less a step. This plan fits, the other does not fit."
struct ComparisonSentence {
  std::string word, rest;
  int direction = 0;  // of the word: -1 better than the other, 1 worse, 0 no difference
};
ComparisonSentence comparison_sentence(const Report& report, bool serving);
/// Only the servers differ.
bool compares_serving(const Report& report);
/// Training and serving.
std::vector<std::string> comparison_sentences(const Report& report);

/// "+3.2 GiB", "−14.1 s", "−1,200 USD", "+12.0%", "0".
std::string difference_text(const Report& report, FigureKind kind, double difference);
std::string figure_text(const Report& report, FigureKind kind, double value);

// The comparison of a report with `other`, which must be there, as the faces show it.
std::string comparison_text(const Report& report);      // an 80-column terminal
std::string comparison_markdown(const Report& report);  // also the document behind the page's Compare view
std::string comparison_csv(const Report& report);       // part,id,label,here,there,difference

/// "More is worse" for a figure or the lines of a bill: what the page colours.
bool less_is_better(const ComparedFigure& figure);

}  // namespace vram
