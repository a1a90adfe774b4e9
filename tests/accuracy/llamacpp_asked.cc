#include "tests/accuracy/llamacpp_asked.h"

#include <algorithm>
#include <cmath>

#include "engine/text.h"
#include "engine/units.h"
#include "tests/accuracy/llamacpp_said.h"
#include "tests/accuracy/map_llamacpp.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/serving_words.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

/// "--tensor-split 2,8", "-ts 3/1", as a field or in words.
std::string tensor_split(const json& c) {
  const std::string logged = text(c, "measured.tensor_split");
  if (!logged.empty()) return logged;
  const std::string said = all_said(c);
  for (const char* word : {"tensor-split", "tensor_split", "tensor split", "-ts"}) {
    size_t at = said.find(word);
    if (at == std::string::npos) continue;
    at += std::string_view(word).size();
    while (at < said.size() && (said[at] == ' ' || said[at] == '=' || said[at] == ':')) ++at;
    size_t end = at;
    while (end < said.size() &&
           (is_digit(said[end]) || std::string_view(",/.").find(said[end]) != std::string_view::npos))
      ++end;
    while (end > at && !is_digit(said[end - 1])) --end;
    if (end > at) return said.substr(at, end - at);
  }
  return "";
}

/// What is said of a device's layers is what the log's free memory made of them, which a plan does not know.
std::string layers_of(const Asked& a) {
  double layers = a.devices.empty() ? 0 : layers_said(lower(text(a.check, "explanation")));
  if (layers == 0 && !a.devices.empty()) layers = a.name.layers;
  const bool last = a.name.device >= static_cast<int>(number(a.m.c, "n_gpus")) - 1;
  return layers > 0 ? (last ? "last layers " : "first layers ") + std::to_string(static_cast<int>(layers)) : "";
}

/// Half of the last digit that was printed of so many GiB: what is rounded to "1.8 GiB" may be 1.75.
double last_digit(double printed) {
  for (double digit = 0.1; digit > 1e-6; digit /= 10)
    if (std::fabs(printed / digit - std::round(printed / digit)) < 1e-6) return 0.5001 * digit;
  return 0;
}

}  // namespace

void apply_name(Asked& a) {
  Share& share = a.given.share;
  const double slots =
      a.name.slots > 0 ? a.name.slots : std::max(1.0, first_number(share.get("concurrency")).value_or(1));
  if (a.name.slots > 0) share.set("concurrency", slots);
  const double length = a.name.tokens > 0 ? a.name.tokens : first_number(share.get("max_len")).value_or(0);
  if (a.name.tokens > 0) share.set("max_len", length);
  if ((a.name.tokens > 0 || a.name.slots > 0) && length > 0) {
    share.set("prompt", std::floor(length / slots));
    share.set("output", 0.0);
  }
  if (a.name.layers > 0) set_repeating(a.given, a.name.layers);
  if (a.name.has("unified")) share.set("unified", slots > 1 ? 1.0 : 0.0);
  if (a.name.has("fa")) share.set("flash", a.name.has("no") || a.name.has("without") ? 0.0 : 1.0);
  if (a.name.has("nofa")) share.set("flash", 0.0);
}

std::string device_of(const Asked& a) {
  const double devices = number(a.m.c, "n_gpus");
  if (a.name.device < 0 || devices < 2 || a.name.place != Place::gpu) return "";
  const int device = std::min(a.name.device, static_cast<int>(devices) - 1);
  std::string shares = tensor_split(a.m.c);
  std::replace(shares.begin(), shares.end(), '/', ':');
  std::replace(shares.begin(), shares.end(), ',', ':');
  shares.erase(std::remove(shares.begin(), shares.end(), ' '), shares.end());
  if (shares.empty()) shares = std::to_string(int(devices));
  return "device " + std::to_string(device) + "/" + shares;
}

void take_place_of_twin(Asked& a) {
  if (a.name.has_any({"total", "all"}) || (a.name.place != Place::unsaid && a.name.device >= 0)) return;
  const CheckName twin = read_name(twin_of(a.m.c, a.check));
  for (const char* kind : {"full", "global", "swa", "sliding", "window"})
    if (twin.has(kind) && !a.name.has(kind)) a.name.rest += "_" + std::string(kind);
  if (twin.place == Place::host && twin.layers == 0 && a.m.share.get("gpu_layers").empty()) return;
  if (twin.layers > 0) set_repeating(a.given, twin.layers);
  if (a.name.place == Place::unsaid) a.name.place = twin.place;
  if (a.name.place == twin.place && a.name.device < 0) a.name.device = twin.device;
  a.devices = device_of(a);
}

Measurement measured(const Asked& a, Figure figure, const std::string& part) {
  const std::string kind = text(a.check, "kind");
  Measurement one = begin(a.given, kind, figure);
  one.measured = a.value() * (a.bytes > 0 ? a.bytes : power_of_unit(text(a.check, "unit")));
  one.unit = text(a.check, "unit");
  one.part = part;
  if (a.bytes == kGiB) one.rounding = kGiB * last_digit(a.value());
  return one;
}

std::string place_part(const Asked& a) {
  if (const std::string layers = layers_of(a); !layers.empty()) return layers;
  if (!a.devices.empty()) return a.devices;
  if (a.name.place == Place::host) return "host";
  return a.name.place == Place::unsaid ? "whole" : "gpu";
}

bool storage_read(const Asked& a) {
  const std::string storage = lower(text(a.m.c, "weight_dtype"));
  if (holds_any(storage + lower(text(a.m.c, "model")), {"ud-"})) return false;
  if (holds_any(storage, {", embedding ", ", embd ", ", token_embd "})) return false;  // whose table has another type
  return !a.given.share.get("weights").empty() || text(a.m.c, "weight_dtype").empty();
}

}  // namespace vram::accuracy
