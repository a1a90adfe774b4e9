#include "engine/report/limits.h"

#include <algorithm>
#include <utility>

#include "engine/plan/plan.h"
#include "engine/units.h"

namespace vram {
namespace {

/// The innermost line that is too large on its own; null: none.
const Line* too_large_line(Lines lines) {
  for (const Line& line : lines) {
    if (const Line* child = too_large_line(line.children)) return child;
    if (line.too_large || line.bytes > kLargestBillBytes) return &line;
  }
  return nullptr;
}

bool add_fault(const char* bill, Lines lines, std::vector<Message>& faults) {
  const Line* line = too_large_line(lines);
  if (line == nullptr && total_bytes(lines) <= kLargestBillBytes) return false;
  const std::string name = line != nullptr ? std::string("'") + line->label + "'" : "the total";
  faults.push_back({"", "", std::string(bill) + ": " + name + " is above 2^53 bytes, the most that is billed exactly"});
  return true;
}

bool is_about_no_key(const Message& fault) { return fault.key.empty(); }

bool is_numeric(FieldKind kind) {
  return kind == FieldKind::count || kind == FieldKind::number || kind == FieldKind::size;
}

double number_of(const Plan& plan, const Field& row) { return read_number(value_text(plan, row.key)).value_or(0); }

/// Of the given keys without which the bill is exact (of all, where none alone makes it so) the one that is the largest
/// multiple of its default.
template <typename IsExact>
const Field* key_to_blame(const Plan& plan, IsExact is_exact_without) {
  const Field* blamed = nullptr;
  double most = 0;
  bool alone = false;
  for (const Field& row : fields()) {
    if (!plan.has(row.key) || !is_numeric(row.kind)) continue;
    Plan without = plan;
    clear_value(without, row.key);
    const bool exact = is_exact_without(without);
    const double multiple = number_of(plan, row) / std::max(1.0, number_of(without, row));
    if (exact < alone || (exact == alone && multiple <= most)) continue;
    blamed = &row;
    most = multiple;
    alone = exact;
  }
  return blamed;
}

template <typename IsExact>
void name_in(const Plan& plan, std::vector<Message>& faults, IsExact is_exact_without) {
  if (std::none_of(faults.begin(), faults.end(), is_about_no_key)) return;
  const Field* row = key_to_blame(plan, is_exact_without);
  if (row == nullptr) return;
  for (Message& fault : faults) {
    if (!is_about_no_key(fault)) continue;
    fault = {std::string(row->name), value_text(plan, row->key), std::string(row->name) + ": " + fault.text};
  }
}

void leave_out(std::optional<uint64_t>& bytes) {
  if (bytes && *bytes > kLargestBillBytes) bytes.reset();
}

}  // namespace

void refuse_too_large(TrainingBill& bill) {
  bool refused = add_fault("training", bill.lines, bill.faults);
  for (const Phase& phase : bill.phases) refused = refused || add_fault("training", phase.lines, bill.faults);
  for (const StageBill& stage : bill.stages) refused = refused || add_fault("training", stage.lines, bill.faults);
  if (refused) bill.verdict = Verdict::invalid;
  leave_out(bill.host_bytes_per_node);
  leave_out(bill.host_load_bytes_per_node);
  leave_out(bill.napkin.states_bytes);
  leave_out(bill.napkin.activations_bytes);
  leave_out(bill.napkin.buffers_bytes);
  leave_out(bill.napkin.total_bytes);
  leave_out(bill.napkin.gpus);
}

void refuse_too_large(ServingBill& bill) {
  if (add_fault("serving", bill.lines, bill.faults)) bill.verdict = Verdict::invalid;
  for (std::optional<uint64_t>* bytes :
       {&bill.weights_bytes_per_gpu, &bill.kv_bytes_per_token, &bill.kv_bytes_per_token_beyond_window,
        &bill.kv_bytes_per_token_per_gpu, &bill.kv_bytes_per_request, &bill.kv_budget_bytes_per_gpu, &bill.kv_tokens,
        &bill.napkin.weights_bytes, &bill.napkin.reserve_bytes, &bill.napkin.kv_bytes_per_request}) {
    leave_out(*bytes);
  }
}

void name_the_key(const Plan& plan, TrainingBill& bill) {
  name_in(plan, bill.faults, [](const Plan& without) { return training_bill(without).faults.empty(); });
}

void name_the_key(const Plan& plan, ServingBill& bill) {
  name_in(plan, bill.faults, [](const Plan& without) { return serving_bill(without).faults.empty(); });
}

void leave_out_steps(ComputeFigures& compute) {
  ComputeFigures rest;
  rest.flops_per_token = compute.flops_per_token;
  rest.model_flops = compute.model_flops;
  rest.attention_share = compute.attention_share;
  rest.napkin_flops = compute.napkin_flops;
  rest.messages = std::move(compute.messages);
  compute = std::move(rest);
}

void leave_out_too_large(ComputeFigures& compute) {
  std::vector<Traffic>& traffic = compute.traffic;
  traffic.erase(std::remove_if(traffic.begin(), traffic.end(), [](const Traffic& item) { return item.line.too_large; }),
                traffic.end());
}

}  // namespace vram
