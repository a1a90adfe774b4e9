#include "engine/text.h"
#include "tests/accuracy/map_serving_pool.h"
#include "tests/accuracy/measured_fields.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/serving_words.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {

namespace {

constexpr double kUsualSwap = 4;  // GiB a GPU: vllm's --swap-space

bool is_of_swap(const std::string& name) {
  return holds_any(name, {"cpu", "swap", "host"}) && name.find("block") != std::string::npos;
}

/// Does the case say how much is set apart for swap, or hold its blocks against the usual 4 GiB?
bool swap_is_said(const json& c) { return holds_any(said_of(c), {"swap-space", "swap_space", "gib swap", "swap of"}); }

json swap_check(const json& c) {
  const json* checks = find(c, "checks");
  for (const json& check : checks != nullptr && checks->is_array() ? *checks : json::array())
    if (is_of_swap(text(check, "name"))) return check;
  return nullptr;
}

/// GiB a GPU: of a field, of the words of the check ("swap space 4 GiB a GPU", "swap 2 GB"), else the usual.
double swap_gib(const json& c, const json& check) {
  if (const double given = first_of(c, {"swap_space_gb", "swap_space_gib", "swap_space", "swap_gib"}); given > 0)
    return given;
  const std::string words = lower(text(check, "explanation"));
  if (const double flag = number_said(said_of(c), {"--swap-space", "swap_space", "swap-space"}); flag > 0) return flag;
  for (const char* unit : {"gib", "gb"})
    if (const double given = number_before(words, unit).value_or(0); given > 0) return given;
  return kUsualSwap;
}

/// One request of a block at a time.
void add_blocks(const ServingMap& m, const std::string& sort, double blocks, double gib,
                std::vector<Measurement>& out) {
  ServingMap given = m;
  const double block = number(m.c, "block_size") > 0 ? number(m.c, "block_size") : 16;
  given.share.set("swap", gib);
  given.share.set("prompt", block);
  given.share.set("output", 0.0);
  Measurement one = begin(given, sort, Figure::swap_tokens);
  one.measured = blocks * block;
  one.unit = "tokens";
  out.push_back(std::move(one));
}

}  // namespace

double swap_beside_usual(const json& c) {
  const json check = swap_check(c);
  const double gib = check.is_null() ? 0 : swap_gib(c, check);
  return gib == kUsualSwap ? 0 : gib;
}

void set_cache_format(ServingMap& m, const std::string& name) {
  const std::string format = format_of(name.substr(name.rfind('_') == std::string::npos ? 0 : name.rfind('_') + 1));
  const std::string said = lower(text(m.c, "kv_dtype"));
  const bool of_two = holds_any(said, {" and ", " or ", "/", ","}) && said.find(format) != std::string::npos;
  if (format.empty() || !of_two) return;
  m.share.set("kv", format == "fp16" ? "bf16" : format);
  m.kv_unread = false;
}

/// vllm's CPU blocks, as a check has them: "cpu_swap_blocks", "cpu_blocks_fp8".
bool add_swap_check(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string name = text(check, "name");
  if (m.engine != "vllm" || !is_of_swap(name) || number(check, "measured") <= 0) return false;
  ServingMap given = m;
  set_cache_format(given, name);
  add_blocks(given, text(check, "kind"), number(check, "measured"), swap_gib(m.c, check), out);
  return true;
}

void add_swap(const ServingMap& m, std::vector<Measurement>& out) {
  const double blocks = host_blocks_field(m.c);
  if (blocks > 0 && swap_is_said(m.c) && swap_check(m.c).is_null())
    add_blocks(m, "independent", blocks, swap_gib(m.c, json::object()), out);
}

}  // namespace vram::accuracy
