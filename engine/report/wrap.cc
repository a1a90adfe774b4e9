#include "engine/report/wrap.h"

#include <algorithm>

#include "engine/report/utf8.h"

namespace vram {
namespace {

/// Where one of `marks` next occurs behind `at`; the end of the text where none does.
size_t next_mark(std::string_view text, std::initializer_list<std::string_view> marks, size_t at) {
  size_t next = text.size();
  for (const std::string_view mark : marks) next = std::min(next, text.find(mark, at));
  return next;
}

/// Cuts before every occurrence of one of `marks`, whose first `left_out` bytes vanish.
std::vector<std::string_view> split_before(std::string_view text, std::initializer_list<std::string_view> marks,
                                           size_t left_out) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t i = next_mark(text, marks, 1); i < text.size(); i = next_mark(text, marks, i + 1)) {
    parts.push_back(text.substr(begin, i - begin));
    begin = i + left_out;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

/// As much of `text` as fits into `width` columns, at least one character.
size_t bytes_within(std::string_view text, size_t width) {
  size_t bytes = first_character(text).bytes;
  while (bytes < text.size()) {
    const size_t next = bytes + first_character(text.substr(bytes)).bytes;
    if (display_width(text.substr(0, next)) > width) break;
    bytes = next;
  }
  return bytes;
}

struct Rows {
  size_t width;
  std::vector<std::string> rows;
  bool open = false;  // the last row takes more

  bool fits(std::string_view part, std::string_view joint) const {
    return open && display_width(rows.back()) + display_width(joint) + display_width(part) <= width;
  }
  void add(std::string_view part, std::string_view joint) {
    if (fits(part, joint)) {
      rows.back().append(joint).append(part);
      return;
    }
    while (display_width(part) > width) {
      const size_t bytes = bytes_within(part, width);
      rows.emplace_back(part.substr(0, bytes));
      part.remove_prefix(bytes);
    }
    rows.emplace_back(part);
    open = true;
  }
};

}  // namespace

std::vector<std::string> wrap(std::string_view text, size_t width) {
  Rows rows{width, {}};
  for (const std::string_view word : split_before(text, {" "}, 1)) rows.add(word, " ");
  return rows.rows;
}

std::string paragraph(const std::string& first, std::string_view text) {
  std::string out;
  for (const std::string& row : hanging(first, text, kTextColumns)) out += row + "\n";
  return out;
}

std::vector<std::string> hanging(const std::string& first, std::string_view text, size_t width) {
  std::vector<std::string> rows = wrap(text, width - display_width(first));
  for (std::string& row : rows) row.insert(0, &row == rows.data() ? first : std::string(display_width(first), ' '));
  return rows;
}

std::vector<std::string> wrap_formula(std::string_view formula, size_t width) {
  Rows rows{width, {}};
  for (const std::string_view term : split_before(formula, {" × ", " ÷ "}, 1)) {
    if (display_width(term) <= width) {
      rows.add(term, " ");
      continue;
    }
    for (const std::string_view word : split_before(term, {" "}, 1)) rows.add(word, " ");
  }
  return rows.rows;
}

std::vector<std::string> wrap_share(std::string_view share, size_t width) {
  Rows rows{width, {}};
  for (const std::string_view pair : split_before(share, {"&"}, 0)) rows.add(pair, "");
  return rows.rows;
}

std::string pad_right(std::string text, size_t width) {
  const size_t shown = display_width(text);
  if (shown < width) text.append(width - shown, ' ');
  return text;
}

std::string pad_left(std::string_view text, size_t width) {
  const size_t shown = display_width(text);
  return std::string(shown < width ? width - shown : 0, ' ').append(text);
}

}  // namespace vram
