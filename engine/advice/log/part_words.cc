#include "engine/advice/log/part_words.h"

#include <algorithm>

#include "engine/advice/log/label_words.h"
#include "engine/advice/log/number.h"
#include "engine/text.h"

namespace vram {
namespace {

struct Known {
  std::string_view text;
  PartWord word;
};

constexpr Known kWords[] = {{"weights", PartWord::weights},
                            {"weight", PartWord::weights},
                            {"model", PartWord::model},
                            {"kv", PartWord::kv},
                            {"cache", PartWord::cache},
                            {"pool", PartWord::pool},
                            {"cuda", PartWord::cuda},
                            {"gpu", PartWord::space},
                            {"graph", PartWord::graph},
                            {"graphs", PartWord::graph},
                            {"activation", PartWord::activation},
                            {"activations", PartWord::activation},
                            {"non", PartWord::non},
                            {"torch", PartWord::torch},
                            {"pytorch", PartWord::torch},
                            {"compute", PartWord::compute},
                            {"buffer", PartWord::buffer},
                            {"buffers", PartWord::buffer},
                            {"scratch", PartWord::buffer},
                            {"budget", PartWord::budget},
                            {"available", PartWord::room},
                            {"free", PartWord::room},
                            {"left", PartWord::room},
                            {"leaves", PartWord::room},
                            {"leaving", PartWord::room},
                            {"remaining", PartWord::room},
                            {"memory", PartWord::space},
                            {"mem", PartWord::space},
                            {"vram", PartWord::space},
                            {"hbm", PartWord::space},
                            {"metal", PartWord::space},
                            {"resident", PartWord::space},
                            {"loaded", PartWord::filler},
                            {"size", PartWord::filler},
                            {"peak", PartWord::filler},
                            {"overhead", PartWord::filler},
                            {"allocation", PartWord::filler},
                            {"allocated", PartWord::filler},
                            {"reserved", PartWord::filler},
                            {"reserves", PartWord::filler},
                            {"footprint", PartWord::filler},
                            {"capture", PartWord::filler},
                            {"captured", PartWord::filler},
                            {"quantized", PartWord::filler},
                            {"usage", PartWord::usage},
                            {"used", PartWord::usage},
                            {"the", PartWord::link},
                            {"is", PartWord::link},
                            {"are", PartWord::link},
                            {"was", PartWord::link},
                            {"of", PartWord::link},
                            {"for", PartWord::link},
                            {"in", PartWord::link},
                            {"on", PartWord::link},
                            {"at", PartWord::link},
                            {"and", PartWord::link},
                            {"take", PartWord::link},
                            {"takes", PartWord::link},
                            {"took", PartWord::link},
                            {"use", PartWord::link},
                            {"uses", PartWord::link},
                            {"with", PartWord::link}};

/// Two words written as one.
constexpr Known kTwo[] = {{"kvcache", PartWord::kv},
                          {"cudagraph", PartWord::graph},
                          {"cudagraphs", PartWord::graph},
                          {"nontorch", PartWord::torch}};

/// A dash, an arrow, a mark of a list, as a text editor has them (U+2000 to U+2BFF), and pictures.
size_t picture(const LogText& text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text.at(i)); };
  if (byte(at) == 0xe2 && byte(at + 1) >= 0x80 && byte(at + 1) <= 0xaf) return 3;
  if (byte(at) == 0xf0) return 4;
  return byte(at) == 0xef && byte(at + 1) == 0xb8 ? 3 : 0;  // what makes the sign before it a picture
}

bool mixed(std::string_view word) {
  const bool digit = std::any_of(word.begin(), word.end(), is_digit);
  return digit && std::any_of(word.begin(), word.end(), is_letter);
}

}  // namespace

std::string_view lower_word(const LogText& text, size_t start, size_t end, char (&letters)[kLongestPartWord]) {
  if (end - start > kLongestPartWord) return {};
  for (size_t i = start; i < end; ++i) letters[i - start] = lower_case(text.at(i));
  return {letters, end - start};
}

bool is_sign(char c) { return static_cast<unsigned char>(c) < 0x80 && !is_alphanumeric(c); }

size_t PartWords::word_end(size_t start, size_t limit) const {
  size_t end = start + 1;
  while (end < limit && text.gap(end) == Gap::none && !is_sign(text.at(end)) && picture(text, end) == 0) ++end;
  return end;
}

bool PartWords::is_of_else(size_t start, size_t end) const {
  const Says says = meaning(text, start, end);
  return is_other(says) || says == Says::host || says == Says::ram || says == Says::rss;
}

void PartWords::add(size_t start, size_t end, PartName& name) const {
  char letters[kLongestPartWord];
  const std::string_view word = lower_word(text, start, end, letters);
  for (const Known& known : kWords) {
    if (known.text == word) return name.add(known.word);
  }
  for (const Known& known : kTwo) {
    if (known.text != word) continue;
    name.add(known.word);
    name.add(known.word == PartWord::kv      ? PartWord::cache
             : known.word == PartWord::graph ? PartWord::cuda
                                             : PartWord::non);
    return;
  }
  if (word.empty() || !mixed(word) || is_of_else(start, end)) name.spoiled = true;  // "fp8", "64K" say nothing
}

size_t PartWords::skip_bracket(size_t open, size_t limit, PartName& name) const {
  const char close = text.at(open) == '(' ? ')' : ']';
  size_t end = open + 1;
  while (end < limit && text.at(end) != close) ++end;
  if (end == limit) return open + 1;
  for (size_t i = open + 1; i < end;) {
    if (scan_size(text, i, Gigabyte::binary).result == Scan::read) name.spoiled = true;  // what follows is a sum
    if (is_sign(text.at(i))) {
      name.spoiled = name.spoiled || text.at(i) == '/';  // "(MiB/token)"
      ++i;
      continue;
    }
    const size_t stop = word_end(i, end);
    PartName inside;
    add(i, stop, inside);
    const bool known = !inside.spoiled;
    name.spoiled = name.spoiled || (!known && is_of_else(i, stop));
    i = stop;
  }
  return end + 1;
}

PartName PartWords::read(size_t begin, size_t end) const {
  PartName name;
  bool head_of_else = false, colon = false;
  for (size_t i = begin; i < end;) {
    const char c = text.at(i);
    if (c == '(' || c == '[') {
      i = skip_bracket(i, end, name);
      continue;
    }
    if (is_sign(c) || picture(text, i) > 0) {
      colon = colon || c == ':' || c == '=';
      i += std::max<size_t>(1, picture(text, i));
      continue;
    }
    if (colon) name = {};
    colon = false;
    const size_t stop = word_end(i, end);
    PartName one;
    add(i, stop, one);
    head_of_else = head_of_else || (one.spoiled && is_of_else(i, stop));
    add(i, stop, name);
    i = stop;
  }
  name.spoiled = name.spoiled || head_of_else;
  return name;
}

}  // namespace vram
