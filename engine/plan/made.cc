#include "engine/plan/made.h"

#include <algorithm>
#include <cmath>

#include "engine/plan/texts.h"
#include "engine/units.h"

namespace vram {
namespace {

bool is_mark(std::string_view text) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == 4 && std::all_of(text.begin(), text.end(), is_digit);
}

/// False where the text is neither empty nor a figure.
bool read_figure(std::string_view text, std::optional<double>* figure) {
  if (text.empty()) return true;
  *figure = read_number(text);
  return figure->has_value() && **figure >= 0;
}

/// One digit after the point, as sentences have it; never more requests than there is room for.
std::string figure_text(const std::optional<double>& figure) { return figure ? show_fixed(*figure, 1) : ""; }

}  // namespace

std::optional<Made> read_made(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ',');
  Made made;
  const bool usable = parts.size() == 4 && !read_version(parts[0]).empty() &&
                      read_figure(parts[1], &made.training_gib) && read_figure(parts[2], &made.requests) &&
                      is_mark(parts[3]);
  if (!usable) return std::nullopt;
  made.version = parts[0];
  made.mark = parts[3];
  return made;
}

std::string write_made(const Made& made) {
  return made.version + "," + figure_text(made.training_gib) + "," + figure_text(made.requests) + "," + made.mark;
}

std::string plan_mark(const Plan& plan) {
  uint32_t hash = 2166136261u;  // FNV-1a, folded to 16 bits as its authors advise
  for (const char c : write_plan(plan, false)) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  hash = (hash >> 16 ^ hash) & 0xffff;
  std::string mark;
  for (int shift = 12; shift >= 0; shift -= 4) mark += "0123456789abcdef"[hash >> shift & 15];
  return mark;
}

std::optional<Made> made_of(const Plan& plan) {
  std::optional<Made> made = read_made(plan.made);
  return made && made->mark == plan_mark(plan) ? made : std::nullopt;
}

}  // namespace vram
