#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/model.h"

namespace vram {

/// A name out of a file, as a message may show it: its first 60 bytes, what is no printable ASCII replaced.
std::string shown(std::string_view name);

/// "" or why a text is not even parsed, with its size: it is longer, or nested deeper, than any config.json.
std::string why_not_parsed(std::string_view text);

/// A config.json object, asked for fields by one name each: whatever the file calls them, and behind the file the
/// defaults of its class. Wrong types, negative and absurd numbers are faults, and then as if absent.
/// A null in the file means none, also where the class has a default.
class Fields {
 public:
  /// An empty object behind which stand `defaults` (JSON, "" for none). Faults go to `faults`, which must outlive it.
  Fields(std::string_view json, std::string_view defaults, std::vector<ModelFault>* faults);
  bool is_object() const;  // false: not JSON, or no object

  /// The same object with other defaults behind it.
  Fields with_defaults(std::string_view json) const;
  /// An object inside, without defaults; empty where there is none.
  Fields section(const char* name) const;
  std::vector<Fields> sections(const char* name) const;  // of an array of objects
  /// Lets an inner object's fields stand beside its own, which win (attn_config, ffn_config ...).
  Fields hoisted(const char* name) const;

  bool given(const char* name) const;  // in the file itself, null or not
  bool has(const char* name) const;    // not null, in the file or by default
  bool is_list(const char* name) const;
  bool is_text(const char* name) const;
  bool is_flag(const char* name) const;

  /// A whole number; of a list whose members are all equal, that one.
  double count(const char* name, double otherwise = 0) const;
  double number(const char* name, double otherwise = 0) const;  // any number >= 0
  double signed_count(const char* name) const;                  // a whole number of either sign, else 0
  bool flag(const char* name, bool otherwise = false) const;
  std::string text(const char* name, const char* otherwise = "") const;
  std::vector<double> counts(const char* name) const;      // of a list; a scalar gives one
  std::vector<std::string> texts(const char* name) const;  // of a list; a scalar gives one
  std::vector<std::string> names() const;                  // of the file's fields

  /// A directive of the family table: true, false, or the name of the flag that decides.
  bool decided(const char* directive, bool otherwise = false) const;

  void fault(const char* name, const std::string& text) const;  // about this field, as given

 private:
  struct Node;
  explicit Fields(std::shared_ptr<const Node> node, std::vector<ModelFault>* faults);
  std::shared_ptr<const Node> node_;
  std::vector<ModelFault>* faults_;
};

}  // namespace vram
