#include "tests/accuracy/card_kin.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/text.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

constexpr const char* kAda = "rtx-4090-24gb";
constexpr const char* kAmpere = "rtx-3090-24gb";
constexpr const char* kBlackwell = "rtx-5090-32gb";
constexpr const char* kRadeon = "rx-7900-xtx-24gb";

// Bandwidths and watts are those of technical.city, topcpu.net, fpsbench.com, hmc-tech.com, alldbin.com, Wikipedia's
// "AMD Instinct" and reviews at launch; where these give bits and clocks only, their product. Some pages say 694 GB/s
// of a P40: its memory is GDDR5, not GDDR5X. As remembered of the makers' sheets, not looked up: 3080 Ti, 4060, 4070
// Super, 4080 Super, laptops but the 4090, 5060, 5070 and 5070 Ti, W7800, MI60, Strix Halo, M1 and M2 but the M2 Pro.
// Products: twice a GeForce's FP32 peak from Ampere on, four times a professional board's, twice a Radeon's before RDNA
// 4 and four times since, eight times an Arc's; laptops' at their highest boost clock, Apple's by the GPU cores of the
// preset's.
constexpr CardKin kCards[] = {
    {"1080ti", "custom", 11, 484, 11.3, 250},
    {"p40", "custom", 24, 347, 11.8, 250},
    {"p100", "custom", 16, 732, 18.7, 250},
    {"titanrtx", kAmpere, 24, 672, 65.2, 280},
    {"quadrortx6000", kAmpere, 24, 672, 130.5, 260},
    {"rtx8000", kAmpere, 48, 672, 130.5, 260},
    {"2060", kAmpere, 6, 336, 25.8, 160},
    {"2070", kAmpere, 8, 448, 29.9, 175},
    {"2070super", kAmpere, 8, 448, 36.3, 215},
    {"2080", kAmpere, 8, 448, 40.3, 215},
    {"2080super", kAmpere, 8, 496, 44.6, 250},
    {"2080ti", kAmpere, 11, 616, 53.8, 250},
    {"3050", kAmpere, 8, 224, 18.2, 130},
    {"3060ti", kAmpere, 8, 448, 32.4, 200},
    {"3070", kAmpere, 8, 448, 40.6, 220},
    {"3070ti", kAmpere, 8, 608, 43.5, 290},
    {"3080ti", kAmpere, 12, 912, 68.2, 350},
    {"3090ti", kAmpere, 24, 1008, 80, 450},
    {"a5000", "rtx-a6000", 24, 768, 111.1, 230},
    {"a4500", "rtx-a6000", 20, 640, 94.6, 200},
    {"a4000", "rtx-a6000", 16, 448, 76.7, 140},
    {"l20", "l40s", 48, 864, 118.7, 275},
    {"4000ada", "rtx-6000-ada", 20, 360, 106.9, 130},
    {"5000ada", "rtx-6000-ada", 32, 576, 261.1, 250},
    {"pro4500", "rtx-pro-6000-blackwell", 32, 896, 219.8, 200},
    {"pro5000", "rtx-pro-6000-blackwell", 48, 1344, 267.8, 300},  // or 72 GB
    {"4060", kAda, 8, 272, 30.2, 115},
    {"4070super", kAda, 12, 504, 70.9, 220},
    {"4070ti", kAda, 12, 504, 80.2, 285},
    {"4070tisuper", kAda, 16, 672, 88.2, 285},
    {"4080super", kAda, 16, 736, 104.4, 320},
    {"4090d", kAda, 24, 1008, 147.1, 425},
    {"4060laptop", kAda, 8, 256, 29.1, 115},
    {"4070laptop", kAda, 8, 256, 40, 115},
    {"4080laptop", kAda, 12, 432, 67.7, 150},
    {"4090laptop", kAda, 16, 576, 79.4, 150},
    {"5060", kBlackwell, 8, 448, 38.4, 145},
    {"5060ti", kBlackwell, 16, 448, 47.4, 180},
    {"5070", kBlackwell, 12, 672, 61.7, 250},
    {"5070ti", kBlackwell, 16, 896, 87.9, 300},
    {"6700xt", kRadeon, 12, 384, 26.4, 230},
    {"6800", kRadeon, 16, 512, 32.3, 250},
    {"6800xt", kRadeon, 16, 512, 41.5, 300},
    {"6900xt", kRadeon, 16, 512, 46.1, 300},
    {"6950xt", kRadeon, 16, 576, 47.3, 335},
    {"7800xt", kRadeon, 16, 624, 74.6, 263},
    {"7900xt", kRadeon, 20, 800, 103, 315},
    {"7600xt", kRadeon, 16, 288, 45.1, 190},
    {"7700xt", kRadeon, 12, 432, 70.3, 245},
    {"w7800", kRadeon, 32, 576, 90.5, 260},
    {"w7900", kRadeon, 48, 864, 122.6, 295},
    {"9060xt", "r9700-32gb", 16, 322, 102.6, 160},
    {"9070", "r9700-32gb", 16, 640, 144.5, 220},
    {"9070xt", "r9700-32gb", 16, 640, 194.6, 304},
    {"a770", "arc-b580-12gb", 16, 512, 157.3, 225},
    {"mi50", "custom", 0, 1024, 26.5, 300},  // of 16 or 32 GB
    {"mi60", "custom", 32, 1024, 29.5, 300},
    {"mi100", "mi210-64gb", 32, 1229, 184.6, 300},
    {"strixhalo", kRadeon, 96, 256, 59.4, 120},  // most that its 128 GB let be set apart
    {"strix", kRadeon, 96, 256, 59.4, 120},
    {"8060s", kRadeon, 96, 256, 59.4, 120},
    {"aimax395", kRadeon, 96, 256, 59.4, 120},
    {"m1pro", "m1-max", 16, 200, 5.2, 0},
    {"m2pro", "m2-max", 16, 200, 6.8, 0},
    {"m3pro", "m3-max", 18, 150, 6.4, 0},
    {"m4pro", "m4-max", 24, 273, 9.2, 0},
    {"m1", "m1-max", 8, 68, 2.6, 0},
    {"m2", "m2-max", 8, 100, 3.6, 0},
    {"m3", "m3-max", 8, 100, 3.6, 0},
    {"m4", "m4-max", 16, 120, 4.6, 0},
};

/// Words and numbers of a name: "2xRTX2080Ti" is "2x", "rtx", "2080ti".
std::vector<std::string> words_of(const std::string& gpu) {
  std::vector<std::string> out(1);
  for (const char c : lower(gpu)) {
    const bool behind_x = is_digit(c) && !out.back().empty() && out.back().back() == 'x';
    if ((behind_x || !is_alphanumeric(c)) && !out.back().empty()) out.emplace_back();
    if (is_alphanumeric(c)) out.back() += c;
  }
  std::replace(out.begin(), out.end(), std::string("mobile"), std::string("laptop"));
  return out;
}

bool is_named(const std::vector<std::string>& words, const std::string& said) {
  for (size_t at = 0; at < words.size(); ++at) {
    std::string joined;
    for (size_t end = at; end < words.size() && joined.size() < said.size(); ++end) joined += words[end];
    if (joined == said) return true;
  }
  return false;
}

}  // namespace

const CardKin* card_kin(const std::string& given) {
  const std::vector<std::string> words = words_of(given);
  const CardKin* best = nullptr;
  for (const CardKin& row : kCards) {
    const bool longer = best == nullptr || std::strlen(row.said) > std::strlen(best->said);
    if (longer && is_named(words, row.said)) best = &row;
  }
  return best;
}

}  // namespace vram::accuracy
