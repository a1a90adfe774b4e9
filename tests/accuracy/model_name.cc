#include "tests/accuracy/model_name.h"

#include "engine/preset_table.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

/// What comes before a bracket: "santacoder (gpt_bigcode)", without the words that change no shape.
std::string plain_name(const std::string& name) {
  std::string plain = lower(name.substr(0, name.find('(')));
  for (const char* word : {"-instruct", "-chat", "-base", "-hf", "-v0.1", "_base"})
    if (const size_t at = plain.find(word); at != std::string::npos) plain.erase(at, std::string(word).size());
  return compact(plain);
}

std::string plain_preset(std::string_view id) { return plain_name(std::string(id)); }

}  // namespace

std::string preset_named(const std::string& name) {
  const std::string wanted = plain_name(name);
  if (wanted.size() < 4) return "";
  std::string begun;
  int beginnings = 0;
  for (const PresetRow& row : model_presets()) {
    const std::string id = plain_preset(row.id);
    if (id == wanted || compact(row.name) == wanted) return std::string(row.id);
    if (id.rfind(wanted, 0) != 0) continue;
    begun = row.id;
    ++beginnings;
  }
  return beginnings == 1 ? begun : "";
}

std::string preset_within(const std::string& text) {
  const std::string given = compact(text);
  std::string best;
  size_t best_at = 0, best_length = 0;
  for (const PresetRow& row : model_presets()) {
    const std::string id = plain_preset(row.id);
    const size_t at = given.rfind(id);
    if (at == std::string::npos || id.size() < 4) continue;
    if (!best.empty() && (at < best_at || (at == best_at && id.size() < best_length))) continue;
    const bool inside = !best.empty() && at + id.size() <= best_at + best_length && id.size() < best_length;
    if (inside) continue;
    best = row.id;
    best_at = at;
    best_length = id.size();
  }
  return best;
}

}  // namespace vram::accuracy
