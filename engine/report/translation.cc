#include "engine/report/translation.h"

#include <algorithm>
#include <array>
#include <optional>

namespace vram {
namespace {

constexpr int kDeepest = 6;  // texts nest in lists in patterns; no deeper than a sentence
constexpr std::string_view kHole = "{}";

/// What lists and sentences are joined with.
struct Joint {
  std::string_view english, translation;
};
constexpr std::array kJoints = {Joint{". ", "。"},   Joint{"; ", "；"},   Joint{": ", "："},   Joint{" + ", " + "},
                                Joint{" · ", " · "}, Joint{" × ", " × "}, Joint{" ÷ ", " ÷ "}, Joint{", ", "，"}};

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  for (size_t at = 0;;) {
    const size_t end = text.find(separator, at);
    parts.emplace_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) return parts;
    at = end + separator.size();
  }
}

/// Is it of several parts of a list, none of them in brackets?
bool is_open_list(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0 && text.substr(i).starts_with("; ")) return true;
  }
  return false;
}

/// What fills the holes between `parts`; empty where the text is not of that kind. Holes are never empty, never reach
/// from one sentence into the next, and between words not from one part of a list into another: "spread the job over
/// {} GPUs".
std::vector<std::string_view> match(const std::vector<std::string>& parts, std::string_view text) {
  const std::string& first = parts.front();
  const std::string& last = parts.back();
  if (text.size() < first.size() + last.size() || !text.starts_with(first) || !text.ends_with(last)) return {};
  std::vector<std::string_view> holes;
  size_t at = first.size();
  const size_t end = text.size() - last.size();
  for (size_t i = 1; i < parts.size(); ++i) {
    const size_t next = i + 1 == parts.size() ? end : text.find(parts[i], at + 1);
    if (next == std::string_view::npos || next <= at || next > end) return {};
    holes.push_back(text.substr(at, next - at));
    if (holes.back().find(". ") != std::string_view::npos) return {};
    const bool between_words = parts[i - 1].ends_with(' ') && parts[i].starts_with(' ');
    if (between_words && is_open_list(holes.back())) return {};
    at = next + parts[i].size();
  }
  return holes;
}

struct Hole {
  std::string_view english;
  std::string translation;
};

/// What a hole's mark at the beginning of `text` says: its number, if any, and that it stays as it stands.
struct Mark {
  std::optional<size_t> number;
  bool kept = false;
  size_t length = 0;  // 0: no mark
};

Mark mark_of(std::string_view text) {
  if (text.starts_with(kHole)) return {{}, false, kHole.size()};
  const bool kept = text.starts_with("{=");
  const size_t digit = kept ? 2 : 1;
  if (text[0] != '{' || text.size() < digit + 2 || text[digit] < '1' || text[digit] > '9' || text[digit + 1] != '}')
    return {};
  return {static_cast<size_t>(text[digit] - '1'), kept, digit + 2};
}

/// `{}` takes the next hole, `{2}` the second, `{=2}` the second untranslated.
std::string fill(std::string_view translation, const std::vector<Hole>& holes) {
  std::string out;
  size_t next = 0;
  while (!translation.empty()) {
    const Mark mark = mark_of(translation);
    if (mark.length == 0) {
      out += translation[0];
    } else {
      const size_t which = mark.number ? *mark.number : next++;
      if (which < holes.size()) out += mark.kept ? std::string(holes[which].english) : holes[which].translation;
    }
    translation.remove_prefix(std::max<size_t>(mark.length, 1));
  }
  return out;
}

bool has_letters(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; });
}

/// Of a script that English never has: it was translated before, and cut to fit.
bool is_translated(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const unsigned char lead = static_cast<unsigned char>(c);
    return lead >= 0xE3 && lead <= 0xE9;  // UTF-8's leads of kana and Chinese characters
  });
}

}  // namespace

Translation::Translation(std::string_view table) {
  for (const std::string& line : split(table, "\n")) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos || tab == 0 || tab + 1 == line.size()) continue;
    const std::string english = line.substr(0, tab), translation = line.substr(tab + 1);
    if (english.find(kHole) == std::string::npos) {
      exact_.emplace(english, translation);
      continue;
    }
    Pattern pattern{split(english, kHole), translation};
    for (const std::string& part : pattern.parts) pattern.literals += part.size();
    patterns_.push_back(std::move(pattern));
  }
  std::stable_sort(patterns_.begin(), patterns_.end(),
                   [](const Pattern& a, const Pattern& b) { return a.literals > b.literals; });
}

const std::string* Translation::find(std::string_view english) const {
  const auto found = exact_.find(std::string(english));
  return found == exact_.end() ? nullptr : &found->second;
}

std::string Translation::by_pattern(std::string_view english, int depth) const {
  constexpr size_t kFewLiterals = 8;  // "{} GPUs" is what the last part of a list ends with
  const bool list = english.find("; ") != std::string_view::npos;
  for (const Pattern& pattern : patterns_) {
    if (list && pattern.literals < kFewLiterals) continue;
    const std::vector<std::string_view> holes = match(pattern.parts, english);
    if (holes.empty()) continue;
    std::vector<Hole> filled;
    for (const std::string_view hole : holes) filled.push_back({hole, translate(hole, depth + 1)});
    return fill(pattern.translation, filled);
  }
  return "";
}

std::string Translation::by_list(std::string_view english, int depth) const {
  for (const Joint& joint : kJoints) {
    if (english.find(joint.english) == std::string_view::npos) continue;
    std::string out;
    for (const std::string& part : split(english, joint.english)) {
      if (!out.empty()) out += joint.translation;
      out += translate(part, depth + 1);
    }
    const bool changed = split(out, joint.translation) != split(english, joint.english);
    if (changed) return out;
  }
  return "";
}

std::string Translation::beside_figure(std::string_view english, int depth) const {
  const size_t after = english.find(' '), before = english.rfind(' ');
  if (after == std::string_view::npos) return "";
  const std::string_view head = english.substr(0, after), tail = english.substr(before + 1);
  if (!has_letters(head)) {
    const std::string rest = translate(english.substr(after + 1), depth + 1);
    if (rest != english.substr(after + 1)) return std::string(head) + " " + rest;
  }
  if (!has_letters(tail)) {
    const std::string rest = translate(english.substr(0, before), depth + 1);
    if (rest != english.substr(0, before)) return rest + " " + std::string(tail);
  }
  return "";
}

/// "recompute whole layers": the table has it as a sentence's start.
std::string Translation::inside_a_sentence(std::string_view english, int depth) const {
  std::string text(english);
  if (english.front() < 'a' || english.front() > 'z' || english.find(' ') == std::string_view::npos) return text;
  text.front() = static_cast<char>(text.front() - 'a' + 'A');
  const std::string said = translate(text, depth + 1);
  return said == text ? std::string(english) : said;
}

std::string Translation::translate(std::string_view english, int depth) const {
  if (empty() || depth > kDeepest || !has_letters(english) || is_translated(english)) return std::string(english);
  if (english.front() == ' ') return " " + translate(english.substr(1), depth);
  if (english.back() == ' ') return translate(english.substr(0, english.size() - 1), depth) + " ";
  for (const Joint& joint : kJoints)  // the rest of a sentence whose beginning stands in another colour
    if (english.starts_with(joint.english) && english.size() > joint.english.size())
      return std::string(joint.translation) + translate(english.substr(joint.english.size()), depth);
  if (const std::string* whole = find(english)) return *whole;
  if (english.back() == '.') {
    const std::string_view sentence = english.substr(0, english.size() - 1);
    if (const std::string* whole = find(sentence)) return *whole + "。";
    if (std::string text = by_pattern(sentence, depth); !text.empty()) return text + "。";
  }
  if (std::string text = by_pattern(english, depth); !text.empty()) return text;
  if (std::string text = by_list(english, depth); !text.empty()) return text;
  if (std::string text = beside_figure(english, depth); !text.empty()) return text;
  return inside_a_sentence(english, depth);
}

}  // namespace vram
