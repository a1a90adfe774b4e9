#include "engine/report/compare.h"
#include "engine/report/csv.h"
#include "engine/units.h"

namespace vram {
namespace {

template <class Number>
std::string cell(const std::optional<Number>& value) {
  return value ? write_number(static_cast<double>(*value)) : "";
}

std::string line_rows(const char* part, const std::vector<ComparedLine>& lines) {
  std::string out;
  for (const ComparedLine& line : lines) {
    out += csv_row({part, line.path, line.label, cell(line.here), cell(line.there), std::to_string(line.difference())});
  }
  return out;
}

}  // namespace

std::string comparison_csv(const Report& report) {
  const Comparison comparison = compare(report, *report.other);
  std::string out = "part,id,label,this,other,difference\n";
  for (const ComparedKey& key : comparison.keys) {
    const Field& row = field(key.key);
    out += csv_row({"key", std::string(row.name), std::string(row.label), key.here, key.there, ""});
  }
  for (const ComparedFigure& figure : comparison.figures) {
    out +=
        csv_row({"figure", figure.id, figure.label, cell(figure.here), cell(figure.there), cell(figure.difference())});
  }
  return out + line_rows("training", comparison.training) + line_rows("serving", comparison.serving);
}

}  // namespace vram
