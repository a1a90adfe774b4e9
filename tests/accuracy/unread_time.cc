#include "tests/accuracy/unread_time.h"

#include <algorithm>

#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

/// Seconds of another figure of the same run: the mean, or the median of requests. 0: none.
double beside(const ServingMap& m, const FigureName& of, Figure figure, bool median) {
  const json* siblings = find(m.c, "siblings");
  if (siblings == nullptr) return 0;
  for (const json& one : *siblings) {
    const FigureName said = read_figure_name(one[0].get<std::string>());
    const bool same_run = said.load.clients == of.load.clients && said.load.rate == of.load.rate;
    if (said.figure == figure && same_run && said.unread.empty() && !said.percentile && !said.of_tokens &&
        said.median == median)
      return said.inverse ? 0 : one[1].get<double>() * said.scale;
  }
  return 0;
}

/// A client that gets several tokens at once prints the time of none of them: its own requests took longer than so many
/// times that (guidellm behind a server that parses reasoning), or most of its pauses are longer than a token takes
/// (vllm's --num-scheduler-steps).
bool came_in_pieces(const ServingMap& m, const FigureName& said, const Load& load, double seconds) {
  const double whole = beside(m, said, Figure::request_latency, false);
  const double first = beside(m, said, Figure::first_token, false);
  if (whole > first && first > 0 && load.output > 1 && seconds < 0.5 * (whole - first) / (load.output - 1)) return true;
  const double middle = beside(m, said, Figure::token_time, true);
  const bool drafts = !m.share.get("acceptance").empty();
  return said.of_tokens && said.median && !drafts && middle > 0 && seconds > 4 * middle;
}

bool is_of_images(const json& c) {
  const std::string said = said_in_sections(c) + said_in(c, {"dataset"}), notes = said_in(c, {"notes"});
  const auto says = [](const std::string& text, const char* word) { return text.find(word) != std::string::npos; };
  return says(said, "visionarena") || says(said, "mmmu") || says(said, "images") || says(notes, "images:");
}

}  // namespace

std::string unread_time(const ServingMap& m, const FigureName& said, const Load& load, double amount) {
  const bool token = said.figure == Figure::token_time, first = said.figure == Figure::first_token;
  if ((token || first || said.figure == Figure::request_latency) && amount <= 0) return "a time of nothing";
  if (token && !said.inverse && came_in_pieces(m, said, load, amount * said.scale)) return "tokens that came in pieces";
  if ((first || (token && load.clients != 1)) && is_of_images(m.c)) return "how large the images are is not stated";
  return "";
}

bool counts_both(const json& c, const std::string& name) {
  std::string said = said_in(c, {"notes"});
  said.erase(std::remove(said.begin(), said.end(), ' '), said.end());
  const bool both = said.find("(isl+osl)/osl") != std::string::npos || said.find("(osl+isl)/osl") != std::string::npos;
  return both && name.find("out") == std::string::npos;
}

}  // namespace vram::accuracy
