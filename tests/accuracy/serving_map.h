#pragma once

#include <string>
#include <vector>

#include "engine/model/architecture.h"
#include "tests/accuracy/case_file.h"
#include "tests/accuracy/measurement.h"
#include "tests/accuracy/share.h"

namespace vram::accuracy {

/// A case on its way to a share string.
struct ServingMap {
  const json& c;
  Share share;
  std::string skipped;
  std::string engine;
  bool kv_unread = false;  // the case names a format of the cache that is no choice of the key
  bool gpu_unread = false;

  void skip(std::string why) {
    if (skipped.empty()) skipped = std::move(why);
  }
};

/// A measurement of the case, without its number.
Measurement begin(const ServingMap& m, const std::string& sort, Figure figure);

/// The case's plan. `models` as in serving_measurements.
ServingMap map_serving_plan(const json& c, const json& models);

// Parts of the mapper, a file each: case fields to keys.
void set_model(ServingMap& m, const json& models);
void set_architecture(ServingMap& m, const Architecture& a);
/// What the case says of its checkpoint beside the format: groups, and which linear layers are in it.
void set_stored(ServingMap& m);
void add_speeds(const ServingMap& m, std::vector<Measurement>& out);

}  // namespace vram::accuracy
