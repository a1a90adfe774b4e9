#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/plan/plan.h"

namespace vram {

/// One thing to try: keys and the values they get. Empty `settings`: does not apply to this plan.
struct Change {
  const char* id = "";
  std::string text;  // as a sentence's start: "Recompute whole layers in backward"
  std::vector<std::pair<Key, std::string>> settings;
  const char* quality = "";
};

/// "recompute=full&micro_batch=1": what to add to the share string.
std::string fragment(const Change& change);

/// The plan with the change made. False where a value is refused.
bool apply(const Change& change, Plan& plan);

/// A key by its member, for searches that make plans by the thousand: as good as given. What follows from it is the
/// caller's to `resolve`.
template <class Member, class Value>
void put(Plan& plan, Key key, Member& member, const Value& value) {
  member = value;
  plan.given.set(static_cast<size_t>(key));
}

/// In the order people should try them: what costs nothing, recomputation, the micro-batch, offload, sharding, and only
/// then more parallelism, more GPUs, and training less.
std::vector<Change> training_changes(const Plan& plan);
std::vector<Change> serving_changes(const Plan& plan);

/// Another card, and its data sheet: `apply` reads none where the plan has it already.
struct CardChange {
  Change change;
  std::shared_ptr<const Accelerator> sheet;
};
/// The same plan on cards whose box promises more memory, smallest first.
std::vector<CardChange> larger_cards(const Plan& plan);

/// What the plan does to save memory, undone: what each of it is worth.
std::vector<Change> training_reversals(const Plan& plan);

/// `tp` or `pp` down to `ranks`, on the same GPUs; the global batch grows where the new ranks do not divide it.
std::vector<std::pair<Key, std::string>> fewer_ranks(const Plan& plan, Key key, double ranks);

}  // namespace vram
