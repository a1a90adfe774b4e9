#include "engine/advice/log/label_words.h"

#include <string_view>

#include "engine/text.h"

namespace vram {
namespace {

struct Word {
  std::string_view text;
  Says says;
};

constexpr Word kWords[] = {{"memory", Says::memory},
                           {"mem", Says::memory},
                           {"vram", Says::device_memory},
                           {"hbm", Says::device_memory},
                           {"gpu", Says::device},
                           {"cuda", Says::device},
                           {"device", Says::device},
                           {"accelerator", Says::device},
                           {"npu", Says::device},
                           {"xpu", Says::device},
                           {"hpu", Says::device},
                           {"mps", Says::device},
                           {"cpu", Says::host},
                           {"host", Says::host},
                           {"rss", Says::rss},
                           {"resident", Says::rss},
                           {"system", Says::host},
                           {"ram", Says::ram},
                           {"peak", Says::peak},
                           {"max", Says::peak},
                           {"maximum", Says::peak},
                           {"current", Says::present},
                           {"cur", Says::present},
                           {"currently", Says::present},
                           {"allocated", Says::allocated},
                           {"alloc", Says::allocated},
                           {"allocation", Says::allocated},
                           {"reserved", Says::reserved},
                           {"rsvd", Says::reserved},
                           {"cached", Says::cached},
                           {"active", Says::active},
                           {"used", Says::used},
                           {"usage", Says::used},
                           {"use", Says::used},
                           {"uses", Says::used},
                           {"using", Says::used},
                           {"takes", Says::used},
                           {"took", Says::used},
                           {"consumes", Says::used},
                           {"occupies", Says::used},
                           {"consumption", Says::used},
                           {"cost", Says::used},
                           {"footprint", Says::used},
                           {"free", Says::free},
                           {"available", Says::free},
                           {"unused", Says::free},
                           {"total", Says::total},
                           {"capacity", Says::total},
                           {"bytes", Says::link},
                           {"is", Says::link},
                           {"was", Says::link},
                           {"of", Says::link},
                           {"at", Says::link},
                           {"about", Says::link},
                           {"around", Says::link},
                           {"approximately", Says::link},
                           {"the", Says::link},
                           {"in", Says::link},
                           {"after", Says::when},
                           {"before", Says::when},
                           {"during", Says::when},
                           {"while", Says::when},
                           {"for", Says::when},
                           {"when", Says::when},
                           {"by", Says::when},
                           {"not", Says::other},
                           {"non", Says::other},
                           {"un", Says::other},
                           {"unallocated", Says::other},
                           {"inactive", Says::other},
                           {"disk", Says::other},
                           {"storage", Says::other},
                           {"file", Says::other},
                           {"dataset", Says::other},
                           {"download", Says::other},
                           {"bandwidth", Says::other},
                           {"swap", Says::other},
                           {"shmem", Says::other},
                           {"shared", Says::other},
                           {"cache", Says::other},
                           {"kv", Says::other},
                           {"buffer", Says::other},
                           {"pool", Says::other},
                           {"limit", Says::other},
                           {"conf", Says::other},
                           {"config", Says::other},
                           {"split", Says::other},
                           {"threshold", Says::other},
                           {"budget", Says::other},
                           {"fraction", Says::other},
                           {"percent", Says::other},
                           {"estimated", Says::other},
                           {"estimate", Says::other},
                           {"predicted", Says::other},
                           {"theoretical", Says::other},
                           {"expected", Says::other},
                           {"required", Says::other},
                           {"requested", Says::other},
                           {"needed", Says::other},
                           {"needs", Says::other},
                           {"min", Says::other},
                           {"minimum", Says::other},
                           {"avg", Says::other},
                           {"average", Says::other},
                           {"mean", Says::other},
                           {"delta", Says::other},
                           {"diff", Says::other},
                           {"change", Says::other},
                           {"increase", Says::other},
                           {"reduction", Says::other},
                           {"saved", Says::other},
                           {"savings", Says::other},
                           {"freed", Says::other},
                           {"private", Says::other},
                           {"weights", Says::other},
                           {"weight", Says::other},
                           {"parameter", Says::other},
                           {"parameters", Says::other},
                           {"activation", Says::other},
                           {"activations", Says::other},
                           {"gradient", Says::other},
                           {"gradients", Says::other},
                           {"optimizer", Says::other},
                           {"model", Says::other},
                           {"allowed", Says::other},
                           {"physical", Says::other},
                           {"virtual", Says::other},
                           {"per", Says::other}};

constexpr size_t kLongest = 13;  // letters of a word that is known

Says known_word(std::string_view word) {
  for (const Word& known : kWords) {
    if (known.text[0] == word[0] && known.text == word) return known.says;
  }
  return Says::nothing;
}

}  // namespace

bool is_place(Says says) {
  return says == Says::device || says == Says::device_memory || says == Says::host || says == Says::ram;
}

Says meaning(const LogText& text, size_t start, size_t end) {
  if (end - start > kLongest) return Says::nothing;
  char letters[kLongest] = {};
  for (size_t i = start; i < end; ++i) letters[i - start] = lower_case(text.at(i));
  std::string_view word(letters, end - start);
  if (const Says says = known_word(word); says != Says::nothing) return says;
  if (!is_digit(word.back())) return Says::nothing;
  while (!word.empty() && is_digit(word.back())) word.remove_suffix(1);  // "GPU0"
  const Says says = word.empty() ? Says::nothing : known_word(word);
  return is_place(says) ? says : Says::nothing;
}

}  // namespace vram
