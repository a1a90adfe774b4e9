#include <algorithm>
#include <set>

#include "engine/plan/fault_list.h"
#include "engine/units.h"

namespace vram {
namespace {

struct Split {
  FaultList& list;
  Key key;
  double parts;
  std::set<std::string> said;  // layers of one kind after another say the same

  bool check(double width, const std::string& what) {
    if (width <= 0 || divides(parts, width)) return true;
    say(write_number(width) + " " + what + " cannot be divided over " + write_number(parts) + " GPUs");
    return false;
  }

  /// Fewer KV heads than GPUs are legal: each is then kept on several.
  void check_kv(double kv_heads) {
    if (kv_heads <= 0 || divides(parts, kv_heads) || divides(kv_heads, parts)) return;
    say(write_number(kv_heads) + " KV heads can be neither divided over " + write_number(parts) +
        " GPUs nor repeated evenly on them");
  }

  void say(const std::string& reason) {
    if (said.insert(reason).second) list.add(key, reason);
  }
};

void check_attention(Split& split, const Attention& attention) {
  if (!split.check(attention.heads, "attention heads")) return;
  if (attention.kv_lora_rank == 0 && !attention.reuses_kv) split.check_kv(attention.kv_heads);
}

bool has_attention(const LayerKind& kind) { return kind.mixer == Mixer::full || kind.mixer == Mixer::sliding; }

}  // namespace

void check_tensor_split(FaultList& list, Key tp_key, double tp, Key expert_tp_key, double expert_tp) {
  Split split{list, tp_key, tp, {}}, expert_split{list, expert_tp_key, expert_tp, {}};
  const Plan& p = list.plan;
  if (p.subject == nullptr || p.subject->kinds.empty()) {
    if (split.check(p.heads, "attention heads") && p.kv_lora_rank == 0) split.check_kv(p.kv_heads);
    return;
  }
  for (const LayerKind& kind : p.subject->kinds) {
    if (has_attention(kind)) check_attention(split, kind.attention);
    if (kind.ffn.kind == FfnKind::dense) split.check(kind.ffn.width, "columns of the MLP");
    if (kind.ffn.kind != FfnKind::moe) continue;
    expert_split.check(kind.ffn.expert_width, "columns of an expert");
    split.check(kind.ffn.shared_width, "columns of the shared experts");
  }
}

}  // namespace vram
