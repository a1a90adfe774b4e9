#include "engine/advice/log/label_words.h"

#include <array>
#include <iterator>
#include <string_view>

#include "engine/text.h"

namespace vram {
namespace {

struct Word {
  std::string_view text;
  Says says = Says::nothing;
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
                           {"with", Says::link},
                           {"has", Says::link},
                           {"only", Says::link},
                           {"after", Says::when},
                           {"before", Says::when},
                           {"during", Says::when},
                           {"while", Says::when},
                           {"for", Says::purpose},
                           {"when", Says::when},
                           {"by", Says::when},
                           {"not", Says::apart},
                           {"non", Says::apart},
                           {"un", Says::apart},
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
                           {"limit", Says::apart},
                           {"conf", Says::other},
                           {"config", Says::other},
                           {"split", Says::other},
                           {"threshold", Says::apart},
                           {"budget", Says::apart},
                           {"fraction", Says::apart},
                           {"percent", Says::apart},
                           {"estimated", Says::apart},
                           {"estimate", Says::apart},
                           {"predicted", Says::apart},
                           {"theoretical", Says::apart},
                           {"expected", Says::apart},
                           {"required", Says::apart},
                           {"requested", Says::apart},
                           {"needed", Says::apart},
                           {"needs", Says::apart},
                           {"min", Says::apart},
                           {"minimum", Says::apart},
                           {"avg", Says::apart},
                           {"average", Says::apart},
                           {"mean", Says::apart},
                           {"delta", Says::apart},
                           {"diff", Says::apart},
                           {"change", Says::apart},
                           {"increase", Says::apart},
                           {"reduction", Says::apart},
                           {"saved", Says::apart},
                           {"saving", Says::apart},
                           {"improvement", Says::apart},
                           {"overhead", Says::apart},
                           {"ratio", Says::apart},
                           {"savings", Says::apart},
                           {"freed", Says::apart},
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
                           {"allowed", Says::apart},
                           {"physical", Says::other},
                           {"virtual", Says::other},
                           {"per", Says::other}};

constexpr size_t kLongest = 13;  // letters of a word that is known

/// The words by their first letter, and where those of each letter begin: a log has many more words than it knows.
struct Index {
  Word words[std::size(kWords)] = {};
  std::array<uint16_t, 27> begin = {};

  constexpr Index() {
    uint16_t count = 0;
    for (size_t letter = 0; letter < 26; ++letter) {
      begin[letter] = count;
      for (const Word& word : kWords) {
        if (word.text[0] == static_cast<char>('a' + letter)) words[count++] = word;
      }
    }
    begin[26] = count;
  }
};

constexpr Index kIndex;

Says known_word(std::string_view word) {
  if (!is_letter(word[0])) return Says::nothing;
  const size_t letter = static_cast<size_t>(word[0] - 'a');
  for (size_t i = kIndex.begin[letter]; i < kIndex.begin[letter + 1]; ++i) {
    if (kIndex.words[i].text == word) return kIndex.words[i].says;
  }
  return Says::nothing;
}

}  // namespace

bool is_place(Says says) {
  return says == Says::device || says == Says::device_memory || says == Says::host || says == Says::ram;
}

bool is_other(Says says) { return says == Says::other || says == Says::apart; }

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
