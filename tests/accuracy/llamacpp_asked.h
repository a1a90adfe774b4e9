#pragma once

#include <string>
#include <vector>

#include "tests/accuracy/check_name.h"
#include "tests/accuracy/serving_map.h"

namespace vram::accuracy {

/// A check on its way to a measurement.
struct Asked {
  const ServingMap& m;
  const json& check;
  CheckName name;
  double bytes = 0;     // 0: no size
  ServingMap given;     // the case's plan, with what the name changes of it
  std::string devices;  // "device 1/3"

  double value() const { return number(check, "measured"); }
};

/// "kv_mib_32k", "f16_32k_np10": another length, other slots, another type than the case's.
void apply_name(Asked& a);
/// One of several devices that share the layers: "device 1/3"; "" where there is one, or none is named.
std::string device_of(const Asked& a);
/// "kv_one_layer" beside "kv_cuda0_mib" of as many MiB is of that device.
void take_place_of_twin(Asked& a);
/// Where it lies, as a measurement's part says it.
std::string place_part(const Asked& a);
/// The format is one of the key's mixtures: Unsloth's dynamic ones are others under the same names.
bool storage_read(const Asked& a);
/// The check as a measurement of that figure.
Measurement measured(const Asked& a, Figure figure, const std::string& part);

/// The figure is of the whole file, which Metal maps from the first tensor to the last. A file has a few MiB of its
/// vocabulary, too.
bool is_whole_file(const Asked& a);
void add_weights(Asked& a, std::vector<Measurement>& out);

/// "q8_0" of "kv_q8_0_mib", "f16" of "f16_32k"; "" where no type is named.
std::string type_of_name(const std::string& name);
void add_cache(Asked& a, std::vector<Measurement>& out);
/// Of recurrent states their checkpoints, too, which the host keeps of one sequence each.
void add_states(Asked& a, std::vector<Measurement>& out);

}  // namespace vram::accuracy
