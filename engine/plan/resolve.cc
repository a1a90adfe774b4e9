#include "engine/plan/defaults.h"
#include "engine/plan/model_basis.h"
#include "engine/plan/values.h"
#include "engine/units.h"

namespace vram {
namespace {

/// The default of a key that has none: its member is then zero or empty, and what is given always counts as given.
struct None {};
constexpr None none;

template <class Member>
void settle(Plan& plan, Key key, Member& member, None) {
  if (!plan.has(key)) member = Member{};
}

/// What merely repeats the default is no longer given: the plan is then the one its share string gives.
/// Not inlined: a copy at every row of the table is five times the code.
template <class Member, class Default>
[[gnu::noinline]] void settle(Plan& plan, Key key, Member& member, const Default& value) {
  if (!plan.has(key)) {
    member = value;
  } else if (member == value) {
    plan.given.reset(static_cast<size_t>(key));
  }
}

/// Default keys above in the table first, so that each may use them.
// NOLINTNEXTLINE(readability-function-size): one line a row of the table
void settle_all(Plan& p, const Architecture& base, const Accelerator& gpu_sheet) {
#define VRAM_FIELD(kind, type, key, default_value, ...) settle(p, Key::key, p.key, default_value);
#include "engine/plan/fields.def"
#undef VRAM_FIELD
  if (!p.has(Key::reserve)) p.reserve_share = 0;
}

/// One of the names that the model and the data sheet are found by, before the rest of the table.
template <Key wanted>
// NOLINTNEXTLINE(readability-function-size): one line a row of the table
void settle_name(Plan& p) {
  static const Architecture base;
  static const Accelerator gpu_sheet;
#define VRAM_FIELD(kind, type, key, default_value, ...) \
  if constexpr (Key::key == wanted) settle(p, Key::key, p.key, default_value);
#include "engine/plan/fields.def"
#undef VRAM_FIELD
}

/// serve_gpus and serve_tp follow from each other: where both are given and agree, serve_gpus says it all.
void drop_redundant_serve_tp(Plan& p) {
  if (!p.has(Key::serve_gpus) || !p.has(Key::serve_tp)) return;
  if (p.serve_gpus == default_serve_gpus(p)) p.given.reset(static_cast<size_t>(Key::serve_tp));
}

}  // namespace

void resolve(Plan& plan) {
  settle_name<Key::model>(plan);
  settle_name<Key::arch>(plan);
  settle_name<Key::gpu>(plan);
  load_base(plan);
  load_accelerator(plan);
  static const Architecture nothing;
  static const Accelerator nobody = custom_accelerator();
  drop_redundant_serve_tp(plan);
  settle_all(plan, plan.base_architecture ? *plan.base_architecture : nothing,
             plan.accelerator ? *plan.accelerator : nobody);
  build_subject(plan);
}

void clear_value(Plan& plan, Key key) {
  plan.given.reset(static_cast<size_t>(key));
  resolve(plan);
}

bool set_value(Plan& plan, Key key, std::string_view text, Message* message) {
  const Field& row = field(key);
  const std::optional<Value> value = read_value(row, text);
  if (!value) {
    if (message != nullptr) {
      *message = {std::string(row.name), std::string(text),
                  std::string(row.name) + ": '" + std::string(text) + "' is not " + accepted_values(row) + "; " +
                      value_text(plan, key) + " is kept"};
    }
    return false;
  }
  store_value(plan, key, *value);
  plan.given.set(static_cast<size_t>(key));
  resolve(plan);
  return true;
}

double Plan::dense_shards() const { return shard; }

double Plan::expert_shards() const {
  // As many copies of the shards as the dense part has (Megatron-LM, core/parallel_state.py,
  // intra_partial_expert_data_parallel_size).
  const double copies = gpus / (tp * pp) / shard;
  return whole(gpus / (etp * ep * pp) / copies);
}

}  // namespace vram
