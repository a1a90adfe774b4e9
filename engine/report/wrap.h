#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vram {

/// `text` in rows of at most `width` columns, broken at spaces; a longer word is cut.
std::vector<std::string> wrap(std::string_view text, size_t width);

/// Rows with `first` before the first and spaces of the same width before the others.
std::vector<std::string> hanging(const std::string& first, std::string_view text, size_t width);
inline constexpr size_t kTextColumns = 80;
/// The same as one text of that width, a line each.
std::string paragraph(const std::string& first, std::string_view text);

/// A formula likewise, broken before × and ÷ where that will do.
std::vector<std::string> wrap_formula(std::string_view formula, size_t width);

/// A share string likewise, broken before &.
std::vector<std::string> wrap_share(std::string_view share, size_t width);

/// Padded with spaces on the right (left) to `width` columns.
std::string pad_right(std::string text, size_t width);
std::string pad_left(std::string_view text, size_t width);

}  // namespace vram
