#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/advice/findings.h"
#include "engine/compute/compute.h"
#include "engine/plan/plan.h"
#include "engine/serving/serving.h"
#include "engine/training/training.h"

namespace vram {

inline constexpr const char* kEngineVersion = "0.1.0";

/// Everything one plan says. Where `answered` is false (unknown model or gpu) only `messages` hold.
struct Report {
  bool answered = false;
  bool is_draft = false;  // `findings` lack what would make the plan fit
  std::string share;      // canonical, without view keys
  Plan plan;
  TrainingBill training;
  ComputeFigures compute;
  ServingBill serving;
  std::vector<Finding> findings;
  std::vector<Message> messages;
  std::shared_ptr<const Report> other;  // of the plan that `vs` compares with; null where there is none, or no answer
};

/// The whole report of a plan as read: share string to figures.
Report report(std::string_view share);
Report report(const PlanReading& reading);

/// For a plan that changes many times a second: a draft, which takes the plan compared with from the report `before`
/// where it is the same. Finished, it is `report(reading)`.
Report draft_report(const PlanReading& reading, const Report& before);
void finish(Report& draft);

/// Contract section 3; one line, no trailing newline. `timeline`: with training.timeline.
std::string report_json(const Report& report, bool timeline = false);
/// Memory along a training step, a row a stage, for a terminal.
std::string timeline_text(const Report& report);
std::string report_text(const Report& report);  // an 80-column terminal
/// Also the document behind the page's canvas. With the address of a `page` it links to the plan there.
std::string report_markdown(const Report& report, std::string_view page = "");
/// A picture of the bill that `view` shows, for pages that cannot hold a frame; colours follow the reader's scheme.
std::string report_svg(const Report& report);
std::string report_csv(const Report& report);  // bill,id,label,bytes,band_bytes,formula; id is the path of a line

/// The three sentences every face begins with: training, compute, serving.
std::vector<std::string> headline_sentences(const Report& report);

}  // namespace vram
