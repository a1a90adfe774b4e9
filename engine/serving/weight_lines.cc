#include <algorithm>
#include <array>

#include "engine/serving/allocations.h"
#include "engine/serving/weights.h"

namespace vram {

namespace {

struct SectionText {
  const char* id;
  const char* label;
};
constexpr std::array<SectionText, static_cast<size_t>(WeightSection::count_)> kSections = {{
    {"block", "All parameters"},
    {"attention", "Attention"},
    {"mlp", "MLP and shared experts"},
    {"experts", "Experts"},
    {"host_experts", "Experts of layers on the GPU"},
    {"mixer", "Linear and state-space mixers"},
    {"vectors", "Norms, biases, routers"},
    {"embedding", "Embedding"},
    {"layer_embedding", "Embeddings of every layer"},
    {"head", "Output head"},
    {"outside", "Outside the text model"},
    {"draft", "Draft"},
    {"absorbed", "Absorbed copies of kv_b"},
    {"group_indices", "Indices of the experts' groups"},
    {"rotary", "Rotary table"},
    {"rounding", "Rounding of the allocator"},
}};

Factors parcel_factors(const WeightParcel& parcel) {
  Factors factors = {times("P", parcel.elements, "parameters")};
  add_width(factors, parcel.bits);
  if (parcel.divisor > 1) factors.push_back(over("tp", parcel.divisor, "GPUs that share them"));
  return factors;
}

/// What tells the parcels of one section apart.
SectionText parcel_text(const WeightParcel& parcel, double narrowest_bits, double most_gpus) {
  constexpr SectionText texts[2][3] = {
      {{"whole", "Whole on every GPU"}, {"by_kv_heads", "Divided by KV heads"}, {"divided", "Divided"}},
      {{"wider_whole", "Kept wider, whole on every GPU"},
       {"wider_by_kv_heads", "Kept wider, divided by KV heads"},
       {"wider", "Kept wider, divided"}}};
  const int spread = parcel.divisor <= 1 ? 0 : parcel.divisor < most_gpus ? 1 : 2;
  return texts[parcel.bits > narrowest_bits ? 1 : 0][spread];
}

Line parcel_line(Sheet& sheet, const SectionText& text, const WeightParcel& parcel) {
  if (parcel.section == WeightSection::rounding) {
    return sheet.leaf(text.id, text.label, {times("", parcel.elements, "B")}, kAllocatorRule, 1);
  }
  // Band: loaded weights of 20 start-up logs lie within 0.5% (16 bit) to 2% (quantised) of parameters x bits.
  return sheet.leaf(text.id, text.label, parcel_factors(parcel),
                    "parameters, matrix by matrix, x bits of the storage format", parcel.bits < 16 ? 0.02 : 0.005);
}

Line section_line(Sheet& sheet, const SectionText& text, const std::vector<WeightParcel>& parcels) {
  if (parcels.size() == 1) return parcel_line(sheet, text, parcels.front());
  double narrowest = parcels.front().bits, most_gpus = 1;
  for (const WeightParcel& parcel : parcels) {
    narrowest = std::min(narrowest, parcel.bits);
    most_gpus = std::max(most_gpus, parcel.divisor);
  }
  LineList lines(sheet);
  for (const WeightParcel& parcel : parcels) {
    lines.push_back(parcel_line(sheet, parcel_text(parcel, narrowest, most_gpus), parcel));
  }
  return sheet.group(text.id, text.label, gather_twins(sheet, lines));
}

}  // namespace

Line weights_line(Sheet& sheet, const std::vector<WeightParcel>& parcels) {
  const bool routes = std::any_of(parcels.begin(), parcels.end(),
                                  [](const WeightParcel& parcel) { return parcel.section == WeightSection::experts; });
  LineList children(sheet);
  for (size_t s = 0; s < kSections.size(); ++s) {
    std::vector<WeightParcel> own;
    for (const WeightParcel& parcel : parcels) {
      if (parcel.section == static_cast<WeightSection>(s)) own.push_back(parcel);
    }
    if (own.empty()) continue;
    children.push_back(section_line(sheet, kSections[s], own));
    if (own.front().section == WeightSection::mlp && !routes) children.back().label = "MLP";
  }
  return sheet.group("weights", "Weights", children);
}

}  // namespace vram
