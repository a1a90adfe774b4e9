#pragma once

#include <bitset>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/hardware/accelerator.h"
#include "engine/model/model.h"
#include "engine/plan/choices.h"

namespace vram {

/// Every key of the share string, in the order of the field table (engine/plan/fields.def).
enum class Key : uint8_t {
#define VRAM_FIELD(kind, type, key, ...) key,
#include "engine/plan/fields.def"
#undef VRAM_FIELD
  count_
};
inline constexpr size_t kKeyCount = static_cast<size_t>(Key::count_);

struct ModelBasis;  // engine/plan/resolve.cc: what base_architecture and subject were made from

/// A share string with every key resolved: what was given, and for the rest its default.
/// Members carry the keys' names. Numbers are doubles in the key's unit, sizes in BYTES, rates in GB/s;
/// 0 stands for "none" where a key has no default (ask `has` where 0 is a value of its own).
struct Plan {
#define VRAM_FIELD(kind, type, key, ...) type key{};
#include "engine/plan/fields.def"
#undef VRAM_FIELD

  double reserve_share = 0;  // `reserve` as a share of the weights; 0 where it was given as a size

  std::bitset<kKeyCount> given;  // set by the share string (or by set_value), and not merely the default again
  std::vector<std::pair<std::string, std::string>> unknown;  // keys of a later version: name, and the pair verbatim

  // What `model` (with `arch`) and `gpu` name, parsed once and shared by copies of the plan.
  std::shared_ptr<const Architecture> base_architecture;  // before the plan's own keys override it; null: unknown model
  std::shared_ptr<const Model> subject;                   // the model to bill, overrides applied; null: unknown model
  std::shared_ptr<const Accelerator> accelerator;         // null: unknown gpu
  std::shared_ptr<const ModelBasis> basis;

  bool has(Key key) const { return given.test(static_cast<size_t>(key)); }
  double dp() const { return gpus / (tp * pp * cp); }  // data-parallel size
  /// Optimizer shards of the dense part: dp * cp, or `shard` where given.
  double dense_shards() const;
  /// ... of the experts: gpus / (etp * ep * pp), in as many copies as the dense part's.
  double expert_shards() const;
  /// global_batch / (micro_batch * dp): micro-batches of a step on each pipeline.
  double micro_batches() const { return global_batch / (micro_batch * dp()); }
  /// What a rank's tokens are: micro_batch * seq / cp.
  double tokens_per_micro_batch() const { return micro_batch * seq / cp; }
};

/// What the reader has to say about one key.
struct Message {
  std::string key, given, text;
};

struct PlanReading {
  Plan plan;
  std::vector<Message> messages;
  bool answerable = true;  // false: an unknown model or gpu; the report then holds only messages
};

/// Reads a share string (a whole URL, or one with a leading '#' or '?', too). Never fails: see the contract.
PlanReading read_plan(std::string_view share);

/// The canonical share string. `view_keys` false: without the view group (the report's `share`).
std::string write_plan(const Plan& plan, bool view_keys);

/// Sets one key as if it stood in the share string, and resolves all defaults anew. False (plan unchanged, message
/// set) where the value is unusable.
bool set_value(Plan& plan, Key key, std::string_view text, Message* message);
/// Back to its default.
void clear_value(Plan& plan, Key key);
/// Fills in the default of every key that is not given, in table order; then builds `subject`.
void resolve(Plan& plan);
/// The canonical text of a key's present value ("8", "bf16-pure", "79.65").
std::string value_text(const Plan& plan, Key key);

/// A plan for an architecture read from a config.json: model=custom, its keys, and `arch` for the rest.
/// Its share string gives the same plan again.
Plan plan_of_architecture(const Architecture& architecture);

enum class FieldKind : uint8_t {
  count,          // whole number
  number,         // any number
  share,          // 0..1, "25%" too
  size,           // bytes, written in the field's unit
  size_or_share,  // a size, or a percentage in the member of the same name with _share
  rate,           // GB/s
  flag,           // 0 1
  choice,         // one of `words`
  text
};

enum class Group : uint8_t { model, hardware, training, serving, measured, view };

/// One row of the field table.
struct Field {
  Key key;
  std::string_view name;
  FieldKind kind;
  Group group;
  std::string_view section;  // small heading in the page: "Parallelism", "Batch", "Saving memory" ...
  double least, most;        // accepted range of numbers, in `unit`
  std::string_view unit;     // "GiB", "tokens", "GB/s", ""
  std::string_view label;    // "Tensor parallel"
  std::string_view
      built;  // "" or what is missing yet: "a key whose feature is not built yet is answered with a message"
  std::span<const std::string_view> words;  // of a choice
  bool has_default;                         // else nothing stands for a value that is not given
};

std::span<const Field> fields();
const Field& field(Key key);
const Field* find_field(std::string_view name);
/// What a key means, in one or two sentences: apart from the table, which every plan needs.
std::string_view help_of(const Field& field);

/// Reasons why the plan cannot exist (GPUs not divisible by tp*pp*cp, heads by tp, global batch by micro_batch*dp ...).
/// Empty: valid. Training and serving are judged apart.
std::vector<Message> training_faults(const Plan& plan);
std::vector<Message> serving_faults(const Plan& plan);

}  // namespace vram
