#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/report/figures.h"

namespace vram {

/// Collects the figures of one part of a report.
struct FigureList {
  explicit FigureList(const Report& of) : report(of) {}

  void add(std::string label, std::string value, std::string remark = "") {
    figures.push_back({std::move(label), std::move(value), std::move(remark)});
  }
  void bytes(std::string label, std::optional<uint64_t> value, std::string remark = "") {
    if (value) add(std::move(label), shown(report, static_cast<double>(*value)), std::move(remark));
  }
  void requests(std::string label, std::optional<double> value, std::string remark = "") {
    if (value) add(std::move(label), requests_count(*value), std::move(remark));
  }

  const Report& report;
  std::vector<Figure> figures;
};

}  // namespace vram
