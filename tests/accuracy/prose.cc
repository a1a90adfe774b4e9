#include "tests/accuracy/prose.h"

#include <cstdlib>

#include "engine/text.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

using Kind = ProsePiece::Kind;

bool digit_at(const std::string& said, size_t at) { return at < said.size() && is_digit(said[at]); }

/// "1,000": a comma before three digits and no more.
bool is_thousands(const std::string& said, size_t comma) {
  if (comma == 0 || !is_digit(said[comma - 1])) return false;
  for (size_t i = comma + 1; i <= comma + 3; ++i)
    if (!digit_at(said, i)) return false;
  return !digit_at(said, comma + 4);
}

size_t end_of_number(const std::string& said, size_t at) {
  while (digit_at(said, at) || (at < said.size() && said[at] == '.' && digit_at(said, at + 1)) ||
         (at < said.size() && said[at] == ',' && is_thousands(said, at)))
    ++at;
  return at;
}

ProsePiece number_piece(const std::string& said, size_t& at) {
  const size_t end = end_of_number(said, at);
  ProsePiece piece;
  piece.kind = Kind::number;
  for (size_t i = at; i < end; ++i)
    if (said[i] != ',') piece.text += said[i];
  piece.number = std::strtod(piece.text.c_str(), nullptr);
  at = end;
  const bool thousands =
      at < said.size() && said[at] == 'k' && (at + 1 == said.size() || !is_alphanumeric(said[at + 1]));
  if (thousands) {
    piece.number = of_thousands(piece.number);
    ++at;
  }
  return piece;
}

bool is_of_name(char c) { return is_alphanumeric(c) || c == '_' || c == '*' || c == '-' || c == '.'; }

/// The end of a name that begins here; `at` where none does.
size_t end_of_name(const std::string& said, size_t at) {
  size_t end = at;
  while (end < said.size() && is_of_name(said[end])) ++end;
  while (end > at && said[end - 1] == '.') --end;
  const std::string word = said.substr(at, end - at);
  const bool flag = word.size() > 2 && word[0] == '-' && word[1] == '-';
  return flag || word.find('_') != std::string::npos ? end : at;
}

ProsePiece word_piece(const std::string& said, size_t& at) {
  const size_t begin = at;
  while (at < said.size() && is_letter(said[at])) ++at;
  ProsePiece piece;
  piece.kind = Kind::word;
  piece.text = said.substr(begin, at - begin);
  if (piece.is("one") || piece.is("single")) {
    piece.kind = Kind::number;
    piece.number = 1;
  }
  return piece;
}

}  // namespace

Prose prose_of(const std::string& text) {
  const std::string said = lower(text);
  Prose out;
  for (size_t at = 0; at < said.size();) {
    const size_t begin = at;
    const bool touches = at > 0 && is_alphanumeric(said[at - 1]);
    if (said[at] == ' ' || said[at] == '\n') {
      ++at;
      continue;
    }
    ProsePiece piece;
    if (const size_t end = touches ? at : end_of_name(said, at); end > at) {
      piece.kind = Kind::name;
      piece.text = said.substr(at, end - at);
      at = end;
    } else if (is_digit(said[at])) {
      piece = number_piece(said, at);
    } else if (is_letter(said[at])) {
      piece = word_piece(said, at);
    } else {
      piece.text = said[at++];
    }
    piece.touches_last = touches && begin > 0;
    if (!piece.is("-")) out.push_back(piece);
  }
  return out;
}

}  // namespace vram::accuracy
