#include "engine/compute/products.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/compute/achieved.h"

namespace vram {
namespace {

/// Matrices that read the same input run as one product where they can.
enum Input : uint8_t {
  attention_in,
  attention_out,
  ffn_in,
  ffn_out,
  shared_in,
  shared_out,
  expert_in,
  expert_out,
  mixer,
  other,
  inputs_
};

Input input_of(const Matrix& matrix) {
  switch (matrix.part) {
    case Part::q:
    case Part::k:
    case Part::v:
      return attention_in;
    case Part::o:
      return attention_out;
    case Part::gate:
    case Part::up:
      return ffn_in;
    case Part::down:
      return ffn_out;
    case Part::shared_gate:
    case Part::shared_up:
      return shared_in;
    case Part::shared_down:
      return shared_out;
    case Part::expert_gate:
    case Part::expert_up:
      return expert_in;
    case Part::expert_down:
      return expert_out;
    case Part::linear_mixer:
      return mixer;
    default:
      return other;
  }
}

bool is_row_parallel(Input input) {
  return input == attention_out || input == ffn_out || input == shared_out || input == expert_out;
}

double ranks_that_cut(const Plan& plan, const LayerKind& kind, const Matrix& matrix) {
  switch (matrix.shard) {
    case Shard::tensor:
    case Shard::vocab:
      return plan.tp;
    case Shard::kv_heads:
      return std::min(plan.tp, std::max(1.0, kind.attention.kv_heads));
    case Shard::expert:
      return plan.etp;
    case Shard::replicated:
      return plan.sp ? plan.tp : 1;  // each rank works on its own share of the tokens
  }
  return 1;
}

/// One product: n columns of output and k of depth on this rank.
struct Product {
  double n = 0, nk = 0;
  void add(double rows, double cols) {
    n += rows;
    nk += rows * cols;
  }
  double k() const { return n > 0 ? nk / n : 0; }
};

void add(ProductSeconds& out, const Rates& rates, double rate, double m, const Product& product, double groups,
         bool trained) {
  const double n = product.n, k = product.k();
  out.forward += product_seconds(rates, rate, m, n, k, groups);
  out.input_gradients += product_seconds(rates, rate, m, k, n, groups);
  if (trained) out.weight_gradients += product_seconds(rates, rate, k, n, m, groups);
}

}  // namespace

double product_seconds(const Rates& rates, double rate, double m, double n, double k, double groups) {
  if (!(m > 0 && n > 0 && k > 0 && rate > 0)) return 0;
  const double outputs = m * n * groups;
  const double arithmetic = 2 * outputs * k / rate * (1 + kTailOutputs / outputs) * (1 + kRampDepth / k);
  const double bytes = 2 * (m * k + k * n + m * n) * groups;
  return rates.memory > 0 ? std::max(arithmetic, bytes / rates.memory) : arithmetic;
}

double expert_pairs(const Plan& plan, const Ffn& ffn) {
  const double imbalance = plan.ep > 1 ? plan.moe_imbalance : 1;
  return plan.tokens_per_micro_batch() * ffn.experts_per_token * plan.etp / plan.tp * imbalance;
}

ProductSeconds layer_products(const Plan& plan, const Rates& rates, const LayerKind& kind) {
  std::array<Product, inputs_> products;
  for (const Matrix& matrix : kind.matrices) {
    if (!matrix.linear || matrix.part == Part::router) continue;
    const Input input = input_of(matrix);
    const double cut = ranks_that_cut(plan, kind, matrix);
    const double copies = matrix.shard == Shard::expert ? 1 : matrix.copies;
    const bool by_depth = is_row_parallel(input);
    products[input].add(copies * (by_depth ? matrix.rows : matrix.rows / cut),
                        by_depth ? matrix.cols / cut : matrix.cols);
  }
  const bool trained = plan.method == Method::full;
  const double tokens = plan.tokens_per_micro_batch();
  ProductSeconds out;
  for (size_t i = 0; i < products.size(); ++i) {
    if (i == expert_in || i == expert_out) continue;
    add(out, rates, rates.matrix, tokens, products[i], 1, trained);
  }
  const double groups = std::max(1.0, kind.ffn.experts / plan.ep);
  const double rows = expert_pairs(plan, kind.ffn) / groups + kExpertTileRows;
  const double rate = groups > 1 ? rates.experts : rates.matrix;
  for (Input input : {expert_in, expert_out}) add(out, rates, rate, rows, products[input], groups, trained);
  return out;
}

ProductSeconds head_products(const Plan& plan, const Rates& rates) {
  ProductSeconds out;
  for (const Matrix& matrix : plan.subject->head) {
    if (matrix.part != Part::head) continue;
    Product product;
    product.add(matrix.rows / plan.tp, matrix.cols);
    add(out, rates, rates.matrix16, plan.tokens_per_micro_batch(), product, 1, plan.method == Method::full);
  }
  return out;
}

}  // namespace vram
