#include "tests/accuracy/drafts.h"

#include <algorithm>
#include <cmath>

#include "engine/plan/plan.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

// DeepSeek-V3's report (arXiv 2412.19437, section 5.4.3): 85 to 90% of the second tokens that its prediction module
// drafts are accepted; of later ones fewer, which a constant chance has, too.
constexpr double kUsualAcceptance = 0.85;
// sglang 0.5, server_args.py, auto_choose_speculative_params: three steps for models with prediction modules.
constexpr double kUsualDrafts = 3;

std::string said_of_server(const json& c) {
  return said_in(c, {"model", "check", "notes", "flags", "args", "command", "launch", "server_args", "speculative",
                     "spec", "speculative_config"});
}

/// Where names say which figures are of a server that drafts, the others are not.
bool is_of_other_figures(const json& c) {
  const json* siblings = find(c, "siblings");
  if (siblings == nullptr || !text(c, "drafts").empty()) return false;
  return std::any_of(siblings->begin(), siblings->end(), [](const json& one) {
    return holds_any(one[0].get<std::string>(), {"mtp", "eagle", "draft", "spec"});
  });
}

bool says_drafts(const json& c) {
  if (flag(c, "no_drafts").value_or(false) || is_of_other_figures(c)) return false;
  const std::string said = said_of_server(c);
  for (const char* word : {"mtp", "nextn", "eagle", "speculative"})
    if (said.find(word) != std::string::npos && switched(c, word).value_or(true)) return true;
  return number(c, "num_speculative_tokens") > 0;
}

/// Tokens of a step that the case gives, beside the drafts of that name if they have one.
double tokens_of_step(const json& c) {
  const json* measured = find(c, "measured");
  const std::string drafts = text(c, "drafts");
  if (measured == nullptr || !measured->is_object()) return 0;
  for (const auto& [name, value] : measured->items()) {
    const bool own = drafts.empty() || name.find(drafts) != std::string::npos;
    if (name.find("accept") != std::string::npos && own && value.is_number()) return value.get<double>();
  }
  return 0;
}

/// The chance a at which 1 + a + ... + a^k is so many tokens (arXiv 2211.17192, equation 1).
double acceptance_of(double tokens, double drafts) {
  double low = 0, high = 1;
  for (int i = 0; i < 40; ++i) {
    const double a = (low + high) / 2;
    double sum = 0, power = 1;
    for (double k = 0; k <= drafts; ++k, power *= a) sum += power;
    (sum < tokens ? low : high) = a;
  }
  return std::round(low * 1000) / 1000;
}

double drafted(const ServingMap& m) {
  const double named = number(m.c, "num_speculative_tokens");
  const double stated = named > 0 ? named : first_number(m.share.get("draft_tokens")).value_or(0);
  if (stated > 0) return stated;
  const double steps = number_said(said_of_server(m.c), {"speculative-num-steps", "speculative_num_steps"});
  return steps > 0 ? steps : kUsualDrafts;
}

bool has_modules(const ServingMap& m) {
  const Plan plan = read_plan(m.share.text()).plan;
  return plan.subject != nullptr && !plan.subject->mtp.empty();
}

}  // namespace

void set_acceptance(ServingMap& m) {
  if (flag(m.c, "no_drafts").value_or(false)) m.share.set("draft_tokens", 0.0);
  if (m.engine.empty() || !says_drafts(m.c)) return;
  const double tokens = tokens_of_step(m.c), drafts = drafted(m);
  if (tokens <= 0 && !has_modules(m)) return;
  m.share.set("draft_tokens", drafts);
  m.share.set("acceptance", tokens > 1 ? acceptance_of(tokens, drafts) : tokens > 0 ? tokens : kUsualAcceptance);
}

std::string unstated_drafts(const ServingMap& m, Figure figure) {
  const bool read = figure == Figure::prefill_speed || figure == Figure::first_token;
  const bool known = first_number(m.share.get("acceptance")).value_or(0) > 0;
  return read || known || !says_drafts(m.c) ? "" : "how many drafts were accepted is not stated";
}

}  // namespace vram::accuracy
