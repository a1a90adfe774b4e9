#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/advice/diagnose/measured.h"
#include "engine/advice/findings.h"

namespace vram {

/// One reading of the bill beside what was measured of it.
struct Beside {
  const char* id = "";     // "allocated", "weights", "kv_tokens"
  const char* label = "";  // "Allocated"
  std::optional<double> estimated, measured;
  bool bytes = true;
  std::string remark;
};

/// What went wrong, as people tell it apart.
enum class Symptom : uint8_t { none, at_start, after_steps, long_sample, fragmentation, leak };
const char* symptom_word(Symptom symptom);  // "at_start"

/// What a log says, beside the bill of the plan.
struct Diagnosis {
  LogReading log;
  Plan plan;                  // the one given, with what the log states on top
  std::string settings;       // share-string fragment: what the log states of the plan
  std::string measured_keys;  // share-string fragment: what a link keeps of the log
  Measured measured;
  bool serving = false;
  bool names_model = false;  // the plan or the log does
  bool assumed = false;      // neither the plan nor the log says what ran: the bill is of a plan that nobody gave
  Symptom symptom = Symptom::none;
  std::vector<Beside> beside;
  std::vector<Finding> findings;  // contradictions, then causes, then cures
  std::vector<Message> messages;
};

/// `plan.subject` and `plan.accelerator` must not be null.
Diagnosis diagnose(const Plan& plan, LogReading log);
Diagnosis diagnose(const Plan& plan, std::string_view log);

}  // namespace vram
