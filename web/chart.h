#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/units.h"

namespace vram {

/// A picture over one axis of points: made when the plan changes, drawn every frame. Under the pointer it shows the
/// values of a point; pressed, it makes that point the plan.
struct Chart {
  enum class Kind : uint8_t {
    bands,    // one upon the other, straight between points
    steps,    // one upon the other, each until the next point
    columns,  // one upon the other, each point by itself
    lines     // on a logarithmic axis
  };
  enum class Measure : uint8_t { bytes, requests, days };

  struct Point {
    double at = 0;       // on the axis, 0 to 1; of steps and columns where they begin
    std::string tick;    // below the axis; "" = none
    std::string head;    // what it is: "16,384 tokens"
    std::string change;  // what makes it the plan; "" = nothing does
    std::vector<std::pair<std::string, std::string>> facts = {};  // more to say of it
    std::string note = {};                                        // below the tick
  };
  struct Series {
    std::string label;
    uint32_t rgb = 0;
    std::vector<double> values;  // one a point; NaN: none
    std::string change = {};     // what picks this one
  };

  std::string name;  // of its area
  std::string title;
  Kind kind = Kind::bands;
  Measure measure = Measure::bytes;
  Units units = Units::gib;
  double capacity = 0;  // a line across; 0: none
  int own = -1;         // the point that is the plan
  bool legend = false;
  bool phases = false;  // `change` of a point is the phase that the bill is to show
  std::vector<Point> points = {};
  std::vector<Series> series = {};

  bool empty() const { return points.size() < 2 || series.empty(); }
};

/// The pictures of a view: all made when it is first shown, then one a frame as the plan changes, of those in sight.
struct ChartSet {
  struct Made {
    Chart chart;
    unsigned at = 0;  // App::changes
    bool in_sight = true;
  };
  std::vector<Made> charts;
};
struct Charts {
  ChartSet train, serve;
  std::string phase;  // of the training step, which the bill shows; "" = the fullest
};

}  // namespace vram
