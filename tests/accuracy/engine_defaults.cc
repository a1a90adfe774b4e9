#include "tests/accuracy/engine_defaults.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "engine/units.h"

namespace vram::accuracy {
namespace {

bool contains(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

// Chunk of a prefill and most sequences of a captured graph by the card's MiB (_handle_gpu_memory_settings).
struct SglangCard {
  double below_mib, chunk, graph_of_few, graph_of_four;  // fewer than four ranks, four and more
};
constexpr SglangCard kCards[] = {{20 * 1024, 2048, 8, 8},
                                 {35 * 1024, 2048, 24, 80},
                                 {60 * 1024, 4096, 32, 160},
                                 {160 * 1024, 8192, 256, 512},
                                 {1e9, 16384, 512, 512}};

/// 0.4.8 to 0.5.2: MiB kept free by the card's class.
double reserved_by_class(double mib, double ranks) {
  if (mib < 35 * 1024) return (2.8 + ranks / 10) * 1024;
  if (mib < 90 * 1024) return (9.5 + ranks / 2) * 1024;
  return mib < 160 * 1024 ? (12 + ranks / 2) * 1024 : 32 * 1024;
}

/// Padding of attention that is data-parallel within the ranks, more of large graphs.
double reserved_for_attention(double graphs, double attention_ranks) {
  return attention_ranks > 1 ? graphs * attention_ranks * (graphs > 300 ? 4.5 : 3) : 0;
}

double reserved_by_activations(double mib, double ranks, double attention_ranks) {
  const SglangCard* card = kCards;
  while (mib >= card->below_mib) ++card;
  const double graphs = ranks < 4 ? card->graph_of_few : card->graph_of_four;
  const double reserved =
      512 + 1.5 * card->chunk + 2 * graphs + ranks / 8 * 1024 + reserved_for_attention(graphs, attention_ranks);
  return mib > 60 * 1024 ? std::max(reserved, 10.0 * 1024) : reserved;
}

// adjust_mem_fraction_for_vlm: 0.95, and a tenth less for each doubling of the layers and hidden size of ViT-L/14 (24
// of 1024). Of the tower that most models since 2025 have, SigLIP-so400m: 27 layers of 1152.
constexpr double kTowerShare = 0.95 * (1 - 0.1 * (27.0 * 1152 * 1152 / (24.0 * 1024 * 1024) - 1));

double fraction_by_ranks(double ranks) {
  return ranks >= 16 ? 0.79 : ranks >= 8 ? 0.81 : ranks >= 4 ? 0.85 : ranks >= 2 ? 0.87 : 0.88;
}

}  // namespace

bool says_tower(const std::string& said) {
  for (const char* word : {"ConditionalGeneration", "vision", "Vision", "-VL"})
    if (contains(said, word)) return true;
  return false;
}

double version_number(const std::string& text) {
  if (text.empty()) return 1e9;
  int major = 0, minor = 0, patch = 9;  // "0.6" is the last of its line
  std::sscanf(text.c_str(), "%d.%d.%d", &major, &minor, &patch);
  return major * 1e6 + minor * 1e3 + patch;
}

std::string trtllm_release(const std::string& said) {
  struct Release {
    int month;
    const char* version;
  };
  constexpr Release kReleases[] = {{2025 * 12 + 9, "1.0"},    {2025 * 12 + 7, "0.21.0"},  {2025 * 12 + 5, "0.19.0"},
                                   {2025 * 12 + 2, "0.17.0"}, {2024 * 12 + 12, "0.16.0"}, {2024 * 12 + 11, "0.14.0"},
                                   {2024 * 12 + 9, "0.13.0"}, {2024 * 12 + 7, "0.11.0"},  {2024 * 12 + 4, "0.9.0"},
                                   {2024 * 12 + 2, "0.8.0"},  {2023 * 12 + 12, "0.7.0"},  {2023 * 12 + 10, "0.5.0"}};
  const size_t at = said.find("20");
  int year = 0, month = 0;
  if (at == std::string::npos || std::sscanf(said.c_str() + at, "%4d-%d", &year, &month) != 2) return "";
  for (const Release& release : kReleases)
    if (year * 12 + month >= release.month) return release.version;
  return "";
}

bool llamacpp_flash(const std::string& version) {
  int year = 0, month = 0;
  if (std::sscanf(version.c_str(), "%d-%d", &year, &month) == 2) return year * 12 + month > 2025 * 12 + 8;
  return version.size() > 1 && version[0] == 'b' && std::atof(version.c_str() + 1) >= 6325;
}

double trtllm_slots(const Plan& plan) { return version_number(plan.engine_version) < 11e3 ? 256 : 2048; }

double unsloth_sequences(double left_gib) {
  struct Row {
    double left, sequences;
  };
  constexpr Row kRows[] = {{2, 128},  {4, 160},  {8, 192},  {12, 224}, {16, 256},
                           {24, 288}, {40, 320}, {48, 226}, {80, 368}, {1e9, 400}};
  const Row* row = kRows;
  while (left_gib > row->left) ++row;
  return row->sequences;
}

double sglang_fraction(const Plan& plan, const std::string& said, double attention_ranks) {
  const double version = version_number(plan.engine_version), mib = plan.gpu_mem / kMiB;
  const double ranks = plan.serve_tp * plan.serve_pp * attention_ranks;
  if (version < 4008) return fraction_by_ranks(ranks);
  const double reserved =
      version < 5003 ? reserved_by_class(mib, ranks) : reserved_by_activations(mib, ranks, attention_ranks);
  const double fraction = std::round((mib - reserved) / mib * 1000) / 1000;
  return plan.subject->architecture.has_vision || says_tower(said) ? fraction * kTowerShare : fraction;
}

}  // namespace vram::accuracy
