#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/formats.h"

namespace cli {

/// Rows of cells under a heading; 'l' or 'r' says where a column stands.
struct Table {
  std::vector<std::string> heading;
  std::string alignment;
  std::vector<std::vector<std::string>> rows;
};

/// As text, Markdown or CSV.
std::string write_table(const Table& table, Format format);

}  // namespace cli
