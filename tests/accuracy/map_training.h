#pragma once

#include <string>
#include <vector>

#include "tests/accuracy/case_file.h"
#include "tests/accuracy/measurement.h"
#include "tests/accuracy/share.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {

/// A case on its way to a share string.
struct Mapping {
  explicit Mapping(const json& of) : c(of) {}

  const json& c;
  Words words;   // everything the case says in words
  Words run;     // id, precision, optimizer, sharding, recompute, attention, notes: what was run
  Words method;  // id, precision, adapters: what is trained
  Share share;
  std::string skipped;  // the first reason counts

  void skip(std::string why) {
    if (skipped.empty()) skipped = std::move(why);
  }
};

/// A measurement of the case, without its number.
Measurement begin(const Mapping& m, Figure figure);

// Parts of the mapper, a file each: case fields to keys.
void map_model(Mapping& m);
void map_hardware(Mapping& m);
void map_software(Mapping& m);  // framework, library, precision, optimizer, adapters
void map_layout(Mapping& m);    // parallel sizes, batch, recomputation, kernels

/// Every measured number of a case of the training format.
std::vector<Measurement> training_measurements(const json& c);

/// "pytorch/torchtitan", "ZeRO paper": the start of a source.
std::string short_source(const std::string& source);

}  // namespace vram::accuracy
