#pragma once

#include <string>
#include <vector>

#include "engine/advice/diagnose/diagnose.h"

namespace vram {

/// The plan with what the log states and what was measured, as a link keeps them.
std::string diagnosed_share(const Diagnosis& diagnosis);

/// "A log of vLLM, beside the bill of Llama 3.1 8B on H100 SXM5 80GB."
std::string subject_sentence(const Diagnosis& diagnosis);

/// What was read, for people: "allocated 12.09 GiB": runs of the same figure are one row.
struct ReadRow {
  std::string what, value, place, tool;  // place: "GPU 1", "rank 3", "CUDA0", "× 24"
};
std::vector<ReadRow> read_rows(const Diagnosis& diagnosis);
/// "capacity 95.00: its unit is missing".
std::vector<std::string> unread_sentences(const Diagnosis& diagnosis);
/// The symptom as a sentence; empty where there is none.
std::string symptom_sentence(Symptom symptom);

/// A reading of the bill beside what was measured, in the reader's units.
struct BesideRow {
  std::string label, estimated, measured, difference, remark;
};
std::vector<BesideRow> beside_rows(const Diagnosis& diagnosis);
/// Their columns of figures, of those that any row has something in.
struct BesideColumn {
  const char* head;  // "estimated"
  std::string BesideRow::*cell;
};
std::vector<BesideColumn> beside_columns(const std::vector<BesideRow>& rows);

std::string diagnosis_json(const Diagnosis& diagnosis);
std::string diagnosis_text(const Diagnosis& diagnosis);
std::string diagnosis_markdown(const Diagnosis& diagnosis);

}  // namespace vram
