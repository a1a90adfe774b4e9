#include "engine/model/config_json.h"

#include <algorithm>
#include <span>

#include "engine/model/config_parts.h"
#include "engine/model/families.h"
#include "engine/model/faults.h"
#include "engine/model/traits.h"

namespace vram {
namespace {

/// The language model of a multimodal file, up to two objects deep (thinker_config.text_config); else the file itself.
Fields language_model(const Fields& file) {
  Fields inner = file;
  for (int depth = 0; depth < 2 && inner.section("text_config").names().size() > 1; ++depth)
    inner = inner.section("text_config");
  return inner;
}

/// "" or why the class is not one that this family's files name.
std::string class_fault(const Fields& f, const std::string& model_type) {
  for (const std::string& name : f.texts("architectures")) {
    const std::string unknown = "unknown architecture " + shown(name);
    if (!find_family_of_class(name)) return unknown + " (model_type " + shown(model_type) + ")";
    if (!is_language_model_class(name)) return unknown + ": not a language model's class";
  }
  return "";
}

struct Search {
  const Family* family = nullptr;
  std::string model_type, field = "model_type", fault;
};

/// Why a file is none of a decoder-only language model; "" where nothing says so.
std::string not_a_decoder(const Fields& file, const std::string& model_type) {
  for (const std::string& type : {file.text("model_type"), model_type})
    if (const std::string_view why = why_not_a_decoder(type); !why.empty())
      return type + " is " + std::string(why) + ", not a decoder-only language model";
  if (file.flag("is_encoder_decoder"))
    return "an encoder-decoder (is_encoder_decoder), not a decoder-only language model";
  return "";
}

/// What a file without a family is faulted for.
Search unknown_family(const Fields& file, Search found, const std::vector<std::string>& classes) {
  if (!found.model_type.empty()) {
    found.fault =
        "unknown model_type \"" + shown(found.model_type) + "\": its layers are not known here, and are not guessed at";
  } else if (!classes.empty()) {
    found.field = "architectures";
    found.fault = "unknown architecture " + shown(classes.front());
  } else {
    found.fault = what_other_file(file);
    if (!found.fault.empty()) found.field = "config.json";
    if (found.fault.empty()) found.fault = "missing; without model_type or architectures the layers are not known";
  }
  return found;
}

/// The family of a file: that of its class, the code which runs it, else that of its model_type.
Search search_family(const Fields& file, const Fields& f) {
  Search found;
  found.model_type = f.text("model_type", file.text("model_type").c_str());
  found.fault = not_a_decoder(file, found.model_type);
  if (!found.fault.empty()) return found;
  const std::vector<std::string> classes = f.texts("architectures");
  const Family* const said = find_family(found.model_type);
  found.family = classes.empty() ? nullptr : find_family_of_own_class(classes.front());
  if (!found.family) found.family = said;
  if (!found.family) return unknown_family(file, found, classes);
  found.fault = class_fault(f, found.model_type);
  if (!found.fault.empty()) found.field = "architectures";
  if (found.family != said)  // a name that a share string's `arch` is read back by
    found.model_type = found.family->model_types.substr(0, found.family->model_types.find(' '));
  return found;
}

/// `nested`: the class's own shape stands behind what a text_config leaves out, where it is known.
Fields with_family(Fields f, const Family& family, bool nested) {
  nested = nested && !family.nested.empty();
  if (!family.like.empty())
    if (const Family* parent = find_family(family.like)) f = with_family(f, *parent, nested);
  f = f.with_defaults(family.defaults);
  return nested ? f.with_defaults(family.nested) : f;
}

void refuse_unmodelled(const Fields& f) {
  for (const std::string& field : f.texts("_unmodelled"))
    if (f.has(field.c_str()) && f.flag(field.c_str()))
      f.fault(field.c_str(), "adds to the layers what is not modelled here");
}

double sum_of(const Fields& file, const char* name) {
  if (!file.has(name)) return 0;
  const Fields items = file.section(name);
  double sum = items.names().empty() ? file.count(name) : 0;
  for (const std::string& item : items.names()) sum += items.count(item.c_str());
  return sum;
}

void read_architecture(const Fields& f, Architecture& a) {
  read_widths(f, a);
  read_projections(f, a);
  read_latent_attention(f, a);
  read_experts(f, a);
  read_layer_kinds(f, a);
  read_mixer(f, a);
  read_blocks(f, a);
  a.mtp_layers = f.count("num_nextn_predict_layers");
}

void read_preset_fields(const Fields& file, ConfigReading& reading) {
  reading.id = file.text("id");
  reading.name = file.text("name");
  reading.source = file.text("source");
  reading.published_parameters = file.count("parameters");
  for (const std::string& part : file.section("parameters_beyond").names())  // towers, prediction modules, buffers
    reading.published_parameters -= file.section("parameters_beyond").signed_count(part.c_str());
  reading.architecture.extra_params = sum_of(file, "extra_params");
}

constexpr size_t kMostNamed = 100;

/// Never silent: a field that the partial reading does not know is named, and no obstacle.
void name_unread(const Fields& file, std::vector<ModelFault>& faults) {
  size_t unnamed = 0;
  for (const std::string& name : file.names()) {
    const auto known = [&name](const auto& trait) { return name == trait.name; };
    const std::span<const Trait<Architecture>> traits = architecture_traits();
    if (name == "model_type" || name == "linear" || std::any_of(traits.begin(), traits.end(), known)) continue;
    if (faults.size() < kMostNamed) {
      faults.push_back({"arch", shown(name), "'" + shown(name) + "' is no field of it; it is kept, not used"});
    } else {
      ++unnamed;
    }
  }
  if (unnamed > 0) faults.push_back({"arch", "", std::to_string(unnamed) + " more fields of it are kept, not used"});
}

/// A share string's `arch`: the family's own facts, then whatever the text says. What plan keys say stays empty.
void read_partial(const Fields& file, const Family* family, ConfigReading& reading) {
  Architecture& a = reading.architecture;
  const Fields nothing("{}", "", &reading.faults);
  if (family) read_traits(with_family(nothing, *family, false), a);
  a.linear = family ? a.linear : LinearMixer();
  read_traits(file, a);
  reading.ok = reading.faults.empty();
  name_unread(file, reading.faults);
}

Fields with_outer_fields(const Fields& file, Fields f) {
  if (!f.given("tie_word_embeddings") && file.given("tie_word_embeddings"))
    f = f.with_defaults(file.flag("tie_word_embeddings") ? R"({"tie_word_embeddings":true})"
                                                         : R"({"tie_word_embeddings":false})");
  return f;
}

void read_whole(const Fields& file, const Fields& inner, const Family& family, ConfigReading& reading) {
  Architecture& a = reading.architecture;
  Fields f = with_family(inner, family, file.has("text_config"));
  for (const char* object : {"attn_config", "ffn_config", "sparse_attention_config"}) f = f.hoisted(object);
  f = with_outer_fields(file, f);
  read_traits(with_family(Fields("{}", "", &reading.faults), family, false), a);
  read_architecture(f, a);
  read_preset_fields(file, reading);
  name_missing(f, a);
  refuse_unmodelled(f);
  if (reading.faults.empty()) check_architecture(a, &reading.faults);
  reading.ok = reading.faults.empty();
}

}  // namespace

ConfigReading read_config(std::string_view json, bool partial) {
  ConfigReading reading;
  std::vector<ModelFault> notes;
  const Fields file(json, "", &reading.faults);
  if (!file.is_object()) {
    reading.faults.push_back({"config.json", "", what_text_is(json)});
    return reading;
  }
  const Fields inner = language_model(file);
  const bool custom = partial && !file.has("model_type");
  const Search found = custom ? Search() : search_family(file, inner);
  reading.architecture.model_type = found.model_type;
  if (!found.fault.empty()) {
    reading.faults.push_back({found.field, "", found.fault});
    return reading;
  }
  if (partial) {
    read_partial(file, found.family, reading);
    return reading;
  }
  read_whole(file, inner, *found.family, reading);
  const Fields outer(json, "", &notes);
  read_checkpoint(outer, language_model(outer), reading.architecture);
  reading.faults.insert(reading.faults.end(), notes.begin(), notes.end());
  return reading;
}

}  // namespace vram
