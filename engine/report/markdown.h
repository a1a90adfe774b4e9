#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vram {

/// Text inside a paragraph or a cell: what Markdown or HTML would take as mark-up is escaped.
std::string markdown_text(std::string_view text);

/// A share string as the target of a link: what would end the target is percent-encoded.
std::string markdown_target(std::string_view share);

/// "| a | b |" and a line break, the cells escaped.
std::string markdown_row(const std::vector<std::string>& cells);

/// "| --- | ---: |": 'l' or 'r' a column.
std::string markdown_rule(std::string_view alignment);

}  // namespace vram
