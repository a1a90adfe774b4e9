#include <string>

#include "engine/plan/fault_list.h"
#include "engine/plan/model_basis.h"
#include "engine/plan/texts.h"
#include "engine/units.h"

namespace vram {
namespace {

std::string n(double value) { return write_number(value); }

void check_gpus(FaultList& list) {
  const Plan& p = list.plan;
  const double product = p.tp * p.pp * p.cp;
  list.add_if(!divides(product, p.gpus), Key::gpus, [&] {
    return n(p.gpus) + " GPUs cannot be divided by tp " + n(p.tp) + " × pp " + n(p.pp) + " × cp " + n(p.cp) + " = " +
           n(product);
  });
  list.add_if(p.has(Key::shard) && divides(product, p.gpus) && !divides(p.shard, p.gpus / (p.tp * p.pp)), Key::shard,
              [&] {
                return "groups of " + n(p.shard) + " do not divide the " + n(p.gpus / (p.tp * p.pp)) +
                       " ranks of data and context parallel";
              });
}

void check_experts(FaultList& list) {
  const Plan& p = list.plan;
  if (p.experts < 1) {
    list.add_if(p.ep > 1, Key::ep, [&] { return "the model has no experts to spread over " + n(p.ep) + " groups"; });
    return;
  }
  list.add_if(!divides(p.ep, p.experts), Key::ep,
              [&] { return n(p.experts) + " experts cannot be divided over " + n(p.ep) + " groups"; });
  const double product = p.etp * p.ep * p.pp;
  list.add_if(!divides(product, p.gpus), Key::ep, [&] {
    return n(p.gpus) + " GPUs cannot be divided by etp " + n(p.etp) + " × ep " + n(p.ep) + " × pp " + n(p.pp) + " = " +
           n(product);
  });
}

void check_sequence(FaultList& list) {
  const Plan& p = list.plan;
  // Each rank of context parallel takes one chunk from the front and one from the back, so that causal attention is
  // spread evenly (Megatron-LM megatron/core/utils.py, get_batch_on_this_cp_rank).
  const double chunks = p.cp > 1 ? 2 * p.cp : 1;
  list.add_if(!divides(chunks, p.seq), Key::cp, [&] {
    return "a sequence of " + n(p.seq) + " tokens cannot be divided into 2 × " + n(p.cp) + " chunks";
  });
  list.add_if(p.sp && divides(chunks, p.seq) && !divides(p.tp, p.seq / p.cp), Key::sp,
              [&] { return n(p.seq / p.cp) + " tokens a rank cannot be divided over tp " + n(p.tp); });
}

void check_batch(FaultList& list) {
  const Plan& p = list.plan;
  if (!divides(p.tp * p.pp * p.cp, p.gpus)) return;  // dp is no number then
  const double product = p.micro_batch * p.dp();
  if (!divides(product, p.global_batch)) {
    list.add(Key::global_batch, n(p.global_batch) + " sequences cannot be divided by micro_batch " + n(p.micro_batch) +
                                    " × data parallel " + n(p.dp()) + " = " + n(product));
    return;
  }
  list.add_if(p.optimizer_in_backward && p.micro_batches() > 1, Key::optimizer_in_backward, [&] {
    return n(p.micro_batches()) + " micro-batches need gradients that stay; set global_batch to " + n(product);
  });
}

/// "stages": as many as pp, and all layers.
void check_stages(FaultList& list) {
  const Plan& p = list.plan;
  if (p.stages.empty()) return;
  double sum = 0, count = 0;
  for (const std::string_view part : split(p.stages, ',')) {
    sum += read_number(part).value_or(0);
    ++count;
  }
  list.add_if(count != p.pp, Key::stages, [&] { return n(count) + " stages are listed, pp is " + n(p.pp); });
  list.add_if(p.layers > 0 && sum != p.layers, Key::stages,
              [&] { return "the stages have " + n(sum) + " layers, the model " + n(p.layers); });
}

void check_pipeline(FaultList& list) {
  const Plan& p = list.plan;
  const double chunks = p.pp * p.vpp;
  list.add_if(p.layers > 0 && p.pp > p.layers, Key::pp,
              [&] { return n(p.pp) + " stages are more than " + n(p.layers) + " layers"; });
  // The embedding may count as a layer of the first chunk, the loss as one of the last (Megatron-LM,
  // account_for_embedding_in_pipeline_split, account_for_loss_in_pipeline_split).
  list.add_if(p.layers > 0 && p.pp <= p.layers && chunks > p.layers + 2, Key::vpp, [&] {
    return n(p.pp) + " stages × " + n(p.vpp) + " chunks are more than " + n(p.layers) + " layers, embedding and loss";
  });
  list.add_if(p.vpp > 1 && p.pp == 1, Key::vpp, "chunks need a pipeline; pp is 1");
  // DeepSpeed's pipeline engine refuses sharded gradients (deepspeed/runtime/pipe/engine.py).
  list.add_if(p.framework == Framework::deepspeed && p.pp > 1 && p.zero >= 2, Key::zero,
              [&] { return "DeepSpeed's pipeline takes ZeRO 0 or 1, not " + n(p.zero); });
  check_stages(list);
}

void check_schedule(FaultList& list) {
  const Plan& p = list.plan;
  const bool interleaved = p.schedule == Schedule::interleaved;
  list.add_if(interleaved && p.vpp == 1, Key::schedule, "interleaved needs vpp above 1");
  list.add_if(!interleaved && p.vpp > 1, Key::schedule,
              [&] { return value_text(p, Key::schedule) + " has one chunk a stage; vpp is " + n(p.vpp); });
  if (!divides(p.tp * p.pp * p.cp, p.gpus) || !divides(p.micro_batch * p.dp(), p.global_batch)) return;
  const double micro_batches = p.micro_batches();
  // Megatron-LM megatron/core/pipeline_parallel/schedules.py, forward_backward_pipelining_with_interleaving.
  list.add_if(interleaved && p.vpp > 1 && p.pp > 1 && !divides(p.pp, micro_batches), Key::schedule,
              [&] { return "interleaved: " + n(micro_batches) + " micro-batches cannot be divided by pp " + n(p.pp); });
  // github.com/deepseek-ai/DualPipe dualpipe/dualpipe.py, step().
  list.add_if(p.schedule == Schedule::dualpipe && p.pp > 1 &&
                  (!divides(2, p.pp) || !divides(2, micro_batches) || micro_batches < 2 * p.pp),
              Key::schedule, [&] {
                return "dualpipe needs an even pp and an even number of micro-batches of at least 2 × pp; pp is " +
                       n(p.pp) + ", micro-batches " + n(micro_batches);
              });
}

void check_framework(FaultList& list) {
  const Plan& p = list.plan;
  list.add_if(p.framework == Framework::ddp && p.zero > 0, Key::zero, [&] {
    return "ddp keeps all states on every GPU; ZeRO " + n(p.zero) + " needs fsdp, deepspeed or megatron";
  });
  list.add_if(p.load_whole && p.zero < 3, Key::load_whole,
              [&] { return "nothing divides the weights that were loaded; zero is " + n(p.zero); });
  const bool eight_bit = p.precision == Precision::fp8 || p.precision == Precision::mxfp8;
  list.add_if(p.fp8_params && !(eight_bit && p.framework == Framework::megatron && p.method == Method::full),
              Key::fp8_params,
              "weights in 8 bit alone need framework megatron, method full and precision fp8 or mxfp8");
}

}  // namespace

std::vector<Message> training_faults(const Plan& plan) {
  FaultList list{plan, {}};
  const bool parameters_known = plan.subject == nullptr || plan.subject->nominal_parameters > 0;
  const bool refused = !parameters_known && !plan.basis->subject_faults.empty();
  list.add_if(
      !parameters_known, Key::params,
      refused ? "not known: the shape is refused" : "not known; give params, or layers, hidden, heads, ffn and vocab");
  check_gpus(list);
  check_tensor_split(list, Key::tp, plan.tp, Key::etp, plan.etp);
  check_experts(list);
  check_sequence(list);
  check_batch(list);
  check_pipeline(list);
  check_schedule(list);
  check_framework(list);
  return list.faults;
}

}  // namespace vram
