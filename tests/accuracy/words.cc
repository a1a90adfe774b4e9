#include "tests/accuracy/words.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "engine/text.h"

namespace vram::accuracy {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool holds_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [text](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> split_words(std::string_view text, std::string_view marks) {
  std::vector<std::string> words(1);
  for (const char c : lower(text)) {
    if (is_alphanumeric(c) || marks.find(c) != std::string_view::npos)
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string joined(const std::vector<std::string>& parts, size_t from, size_t count, char between) {
  std::string out;
  for (size_t i = from; i < from + count; ++i) {
    if (!out.empty()) out += between;
    out += parts[i];
  }
  return out;
}

bool is_numeric(std::string_view part) {
  return !part.empty() && part.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool is_size(std::string_view part) {
  return part.size() > 1 && part.back() == 'b' && is_numeric(part.substr(0, part.size() - 1));
}

double of_thousands(double value) {
  const bool binary = value > 0 && std::exp2(std::floor(std::log2(value))) == value;
  return value * (binary ? 1024 : 1000);
}

void Words::add(std::string_view text) {
  if (!text.empty()) text_ += " " + lower(text) + " ";
}

bool Words::has_any(std::initializer_list<std::string_view> words) const {
  for (std::string_view word : words)
    if (has(word)) return true;
  return false;
}

bool Words::whole(std::string_view word) const {
  for (size_t at = text_.find(word); at != std::string::npos; at = text_.find(word, at + 1)) {
    const bool begins = at == 0 || !is_alphanumeric(text_[at - 1]);
    const bool ends = at + word.size() >= text_.size() || !is_alphanumeric(text_[at + word.size()]);
    if (begins && ends) return true;
  }
  return false;
}

bool Words::whole_any(std::initializer_list<std::string_view> words) const {
  for (std::string_view word : words)
    if (whole(word)) return true;
  return false;
}

std::string compact(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool point = c == '.' && i > 0 && i + 1 < text.size() && is_digit(text[i - 1]) && is_digit(text[i + 1]);
    if (is_alphanumeric(c) || point) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

bool holds(std::string_view text, std::string_view said) {
  const std::string all = lower(text);
  const auto digit_at = [&](size_t at) { return at < all.size() && is_digit(all[at]); };
  for (size_t begin = 0; begin < all.size(); ++begin) {
    if (all[begin] != said[0] || (digit_at(begin) && begin > 0 && is_alphanumeric(all[begin - 1]))) continue;
    size_t at = begin, met = 0;
    for (; at < all.size() && met < said.size(); ++at) {
      const bool point = all[at] == '.' && at > 0 && digit_at(at - 1) && digit_at(at + 1);
      if (all[at] == said[met])
        ++met;
      else if (is_alphanumeric(all[at]) || point)
        break;
    }
    if (met == said.size() && !(is_digit(said.back()) && digit_at(at))) return true;
  }
  return false;
}

std::optional<double> first_number(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i)
    if (is_digit(text[i])) return std::strtod(std::string(text.substr(i)).c_str(), nullptr);
  return std::nullopt;
}

std::optional<double> number_before(std::string_view text, std::string_view unit) {
  const std::string all = lower(text);
  for (size_t at = all.find(unit); at != std::string::npos; at = all.find(unit, at + 1)) {
    size_t end = at;
    while (end > 0 && (all[end - 1] == ' ' || all[end - 1] == '-')) --end;
    size_t begin = end;
    while (begin > 0 && (is_digit(all[begin - 1]) || all[begin - 1] == '.')) --begin;
    if (begin < end) return std::strtod(all.substr(begin, end - begin).c_str(), nullptr);
  }
  return std::nullopt;
}

}  // namespace vram::accuracy
