#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/advice/answer.h"

namespace vram {

/// Rows of cells under a heading, as people read them; 'l' or 'r' says where a column stands.
struct TextTable {
  std::vector<std::string> heading;
  std::string alignment;
  std::vector<std::vector<std::string>> rows;
};

/// "Fewest GPUs: 24." and how many layouts were tried: the answer as one sentence or two.
std::string answer_sentence(const Plan& plan, const Answer& answer);
/// "1,138 take too much memory": why the others fell out, most first.
std::vector<std::string> fell_out_sentences(const Answer& answer);

/// The first `most` rows; a column for the GPU where there are several kinds.
TextTable row_table(const Plan& plan, const Answer& answer, size_t most);
/// The best row of each kind of GPU, where there are several.
TextTable gpu_table(const Plan& plan, const Answer& answer);
/// "Nothing fits on: a10, l4." Empty where each kind has a row.
std::string gpus_without_sentence(const Answer& answer);
TextTable switch_table(const Plan& plan, const Answer& answer);
/// "tp 8, pp 4, micro-batch 2, full recomputation": what the search chose, short.
std::string layout_words(const Plan& row);
std::string deployment_words(const Plan& row);
/// The share string of a row of the answer, without what was asked.
std::string row_share(const Answer& answer, size_t row);
std::string gpu_row_share(const Answer& answer, size_t row);
/// Where there is no row: that of what comes nearest to the deadline, the budget or the targets.
std::optional<std::string> nearest_share(const Answer& answer);
size_t row_count(const Answer& answer);

std::string answer_json(const Answer& answer, size_t most);  // contract section 2; one line, no trailing newline
std::string answer_text(const Plan& plan, const Answer& answer, size_t most);
std::string answer_markdown(const Plan& plan, const Answer& answer, size_t most, std::string_view page = "");
std::string answer_csv(const Answer& answer, size_t most);

}  // namespace vram
