#include <algorithm>
#include <cmath>

#include "engine/advice/question.h"
#include "engine/advice/remedies.h"
#include "engine/listed.h"
#include "engine/report/answer.h"
#include "engine/units.h"

namespace vram {
namespace {

std::string n(double value) { return show_grouped(value); }

std::string tried_sentence(const Answer& answer) {
  const char* const what = answer.serving ? "deployments" : "layouts";
  const std::string tried = counted(static_cast<double>(answer.tried), answer.serving ? "deployment" : "layout", what);
  const size_t rows = row_count(answer);
  if (rows == 0) return tried + (answer.tried == 1 ? " was tried." : " were tried.");
  return tried + (answer.tried == 1 ? " was tried, " : " were tried, ") + n(static_cast<double>(rows)) +
         (rows == 1 ? " stands out." : " stand out.");
}

std::string gpus_of(const Plan& row, double gpus) { return n(gpus) + " × " + row.accelerator->name; }

std::string dollars(double usd) { return n(std::round(usd)) + " USD"; }

/// What nothing keeps to, and what the nearest one takes instead.
struct Missed {
  std::vector<std::string> limits, takes;
};

void add_miss(Missed& missed, const std::string& limit, const std::string& takes) {
  missed.limits.push_back(limit);
  missed.takes.push_back(takes);
}

Missed missed_by(const Plan& plan, const LayoutRow& row) {
  Missed missed;
  if (plan.deadline > 0 && row.days.value_or(0) > plan.deadline)
    add_miss(missed, "the deadline of " + show_duration(plan.deadline * 86400),
             "takes " + show_duration(*row.days * 86400));
  if (plan.budget > 0 && row.usd.value_or(0) > plan.budget)
    add_miss(missed, "the budget of " + dollars(plan.budget), "costs " + dollars(*row.usd));
  return missed;
}

Missed missed_by(const Plan& plan, const DeploymentRow& row) {
  Missed missed;
  if (plan.tpot > 0 && row.decode_seconds_per_token && *row.decode_seconds_per_token > plan.tpot)
    add_miss(missed, show_duration(plan.tpot) + " a token",
             "takes " + show_duration(*row.decode_seconds_per_token) + " a token");
  if (plan.ttft > 0 && row.prefill_seconds && *row.prefill_seconds > plan.ttft)
    add_miss(missed, show_duration(plan.ttft) + " to the first token",
             "takes " + show_duration(*row.prefill_seconds) + " to the first token");
  if (plan.qps > 0 && row.requests_per_second.value_or(0) < plan.qps)
    add_miss(missed, show_count(plan.qps) + " requests a second",
             "does " + show_count(row.requests_per_second.value_or(0)) + " requests a second");
  return missed;
}

std::string missed_sentence(const std::string& what, const Missed& missed, const std::string& where) {
  return "No " + what + " keeps to " + listed(missed.limits, " and ") + ": the nearest " +
         listed(missed.takes, " and ") + " on " + where + ".";
}

std::string nothing_sentence(const Plan& plan, const Answer& answer) {
  const std::string what = answer.serving ? "deployment" : "layout";
  if (answer.nearest_layout) {
    const LayoutRow& row = *answer.nearest_layout;
    return missed_sentence(what, missed_by(plan, row), gpus_of(row.plan, row.plan.gpus));
  }
  if (answer.nearest_deployment) {
    const DeploymentRow& row = *answer.nearest_deployment;
    return missed_sentence(what, missed_by(plan, row), gpus_of(row.plan, row.gpus));
  }
  if (answer.lacking_bytes)
    return "No " + what + " fits: the nearest lacks " + shown_bytes(plan, static_cast<double>(*answer.lacking_bytes)) +
           " on its fullest GPU.";
  return answer.serving ? "No deployment does what is asked." : "No layout fits.";
}

std::string found_sentence(const Answer& answer) {
  const double found = answer.found.value_or(0);
  switch (answer.question) {
    case Question::longest_seq:
      return "Longest sequence: " + counted(found, "token.", "tokens.");
    case Question::largest_batch:
      return "Largest micro-batch: " + counted(found, "sequence.", "sequences.");
    case Question::concurrency: {
      const bool limited = found >= answer.deployments.front().plan.max_seqs;
      return "Most requests at a time: " + n(found) + (limited ? ", as many as max_seqs lets run." : ".");
    }
    case Question::context:
      return "Longest prompt: " + counted(found, "token.", "tokens.");
    default:
      return "";
  }
}

std::string best_layout_sentence(const Answer& answer) {
  const LayoutRow& best = answer.layouts.front();
  const std::string where = gpus_of(best.plan, best.plan.gpus);
  if (answer.question == Question::fewest_gpus) return "Fewest GPUs: " + where + ".";
  if (answer.question == Question::cheapest && best.usd)
    return "Cheapest: " + dollars(*best.usd) + " on " + where + ".";
  if (answer.found) return found_sentence(answer);
  if (best.days) return "Fastest: " + show_duration(*best.days * 86400) + " on " + where + ".";
  if (best.tokens_per_second)
    return "Fastest: " + show_count(*best.tokens_per_second) + " tokens a second on " + where + ".";
  return "Fits on " + where + ".";
}

std::string best_deployment_sentence(const Answer& answer) {
  const DeploymentRow& best = answer.deployments.front();
  const std::string where = gpus_of(best.plan, best.gpus);
  switch (without_side(answer.question)) {
    case Question::replicas:
    case Question::fewest_gpus:
      return "Fewest GPUs: " + where + " in " + counted(best.plan.replicas, "replica.", "replicas.");
    case Question::cheapest:
      if (best.usd_per_million_tokens)
        return "Cheapest: " + show_fixed(*best.usd_per_million_tokens, 2) + " USD a million tokens on " + where + ".";
      break;
    case Question::fastest:
      if (best.decode_seconds_per_token)
        return "Fastest: " + show_duration(*best.decode_seconds_per_token) + " a token on " + where + ".";
      break;
    default:
      if (answer.found) return found_sentence(answer);
  }
  return "Fits on " + where + ".";
}

void add_word(std::string& text, const std::string& word) {
  if (!text.empty()) text += ", ";
  text += word;
}

void add_size(std::string& text, const char* name, double size) {
  if (size > 1) add_word(text, name + std::string(" ") + n(size));
}

}  // namespace

size_t row_count(const Answer& answer) { return answer.serving ? answer.deployments.size() : answer.layouts.size(); }

std::optional<std::string> nearest_share(const Answer& answer) {
  if (answer.nearest_layout) return write_plan(answer.nearest_layout->plan, false);
  if (answer.nearest_deployment) return write_plan(answer.nearest_deployment->plan, false);
  return std::nullopt;
}

std::string row_share(const Answer& answer, size_t row) {
  return write_plan(answer.serving ? answer.deployments[row].plan : answer.layouts[row].plan, false);
}

std::string gpu_row_share(const Answer& answer, size_t row) {
  return write_plan(answer.serving ? answer.deployments_by_gpu[row].plan : answer.layouts_by_gpu[row].plan, false);
}

std::string gpus_without_sentence(const Answer& answer) {
  std::string ids;
  for (const std::string& id : answer.gpus_without) add_word(ids, id);
  return ids.empty() ? "" : "Nothing fits or does what is asked on: " + ids + ".";
}

std::string answer_sentence(const Plan& plan, const Answer& answer) {
  if (row_count(answer) == 0) return nothing_sentence(plan, answer) + " " + tried_sentence(answer);
  std::string text = answer.serving ? best_deployment_sentence(answer) : best_layout_sentence(answer);
  const Verdict verdict = answer.serving ? answer.deployments.front().verdict : answer.layouts.front().verdict;
  if (verdict == Verdict::tight) text += " Only within the estimate's band.";
  return text + " " + tried_sentence(answer);
}

std::vector<std::string> fell_out_sentences(const Answer& answer) {
  std::vector<FellOut> groups = answer.fell_out;
  std::stable_sort(groups.begin(), groups.end(), [](const FellOut& a, const FellOut& b) { return a.count > b.count; });
  std::vector<std::string> sentences;
  for (const FellOut& group : groups) sentences.push_back(n(static_cast<double>(group.count)) + ": " + group.reason);
  return sentences;
}

std::string layout_words(const Plan& row) {
  std::string text;
  if (row.framework == Framework::fsdp || row.framework == Framework::ddp)
    add_word(text, value_text(row, Key::framework));
  add_size(text, "tp", row.tp);
  add_size(text, "pp", row.pp);
  add_size(text, "vpp", row.vpp);
  add_size(text, "cp", row.cp);
  add_size(text, "ep", row.ep);
  if (row.has(Key::etp)) add_word(text, "etp " + n(row.etp));
  if (row.framework != Framework::megatron && row.framework != Framework::ddp) add_word(text, "zero " + n(row.zero));
  if (row.has(Key::shard)) add_word(text, "shard " + n(row.shard));
  add_word(text, "mb " + n(row.micro_batch));
  if (row.recompute != Recompute::none) add_word(text, value_text(row, Key::recompute));
  return text;
}

std::string deployment_words(const Plan& row) {
  std::string text;
  add_size(text, "tp", row.serve_tp);
  add_size(text, "pp", row.serve_pp);
  add_size(text, "dp", row.serve_dp);
  add_size(text, "ep", row.serve_ep);
  if (text.empty()) text = "one GPU";
  text += ", " + row.weights;
  return row.has(Key::kv) ? text + ", KV " + row.kv : text;
}

}  // namespace vram
