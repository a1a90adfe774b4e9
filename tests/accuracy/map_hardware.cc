#include <algorithm>
#include <cmath>

#include "engine/plan/plan.h"
#include "engine/preset_table.h"
#include "engine/text.h"
#include "tests/accuracy/card_kin.h"
#include "tests/accuracy/map_training.h"

namespace vram::accuracy {
namespace {

/// Of a card of so many "GB" the driver reports about this many GiB (23.6 of 24, 79.2 of 80, 139.8 of 141).
constexpr double kReported = 0.985;

/// A piece of an identifier that says how the chip is built in, not which it is.
bool is_of_board(std::string_view piece) {
  const bool memory = piece.size() > 2 && piece.substr(piece.size() - 2) == "gb" && is_digit(piece[0]);
  return memory || piece.rfind("sxm", 0) == 0 || piece == "pcie" || piece == "nvl" || piece == "sxm" ||
         piece == "blackwell";
}

/// "h100" of "h100-sxm5-80gb", "rtx4060ti" of "rtx-4060-ti-16gb", "m3max" of "m3-max"; workstation cards go by "A6000"
/// alone.
std::string chip_of(std::string_view id) {
  if (id == "rtx-a6000") return "a6000";
  if (id == "dgx-spark-gb10") return "gb10";
  std::string chip;
  while (!id.empty()) {
    const std::string_view piece = id.substr(0, id.find('-'));
    if (is_of_board(piece)) break;
    chip += compact(piece);
    id.remove_prefix(std::min(id.size(), piece.size() + 1));
  }
  return chip;
}

/// A laptop's card or a "Ti" is another chip than the one that shares its number.
bool is_relative(const std::string& text, const std::string& chip) {
  if (chip.rfind("rtx", 0) != 0 || chip.size() < 7) return false;
  const std::string said = lower(text), digits = chip.substr(3, 4);
  for (const char* word : {"laptop", "mobile", "max-q"})
    if (said.find(word) != std::string::npos) return true;
  size_t at = said.find(digits);
  if (at == std::string::npos || chip.size() > 7) return false;
  at += digits.size();
  while (at < said.size() && (said[at] == ' ' || said[at] == '-')) ++at;
  for (const std::string word : {"ti", "super", "d"}) {
    const size_t end = at + word.size();
    if (said.compare(at, word.size(), word) == 0 && (end >= said.size() || !is_alphanumeric(said[end]))) return true;
  }
  return false;
}

/// "A4000" is no A40; gamers' cards go by their number alone, too.
bool names_chip(const std::string& text, const std::string& chip) {
  if (chip == "gb10" && holds(text, "spark")) return true;
  if (is_relative(text, chip)) return false;
  if (chip.rfind("rx", 0) == 0 && holds(text, chip.substr(2))) return true;
  const bool numbered = chip.rfind("rtx", 0) == 0 && chip.size() == 7 && chip.find_first_not_of("0123456789", 3) > 6;
  if (holds(text, chip)) return true;
  const size_t at = numbered ? text.find(chip.substr(3)) : std::string::npos;
  return at == 0 || (at != std::string::npos && (text[at - 1] == ' ' || text[at - 1] == 'x'));
}

int fitness(std::string_view id, const Words& given, double gb) {
  int score = 0;
  if (gb > 0 && number_before(id, "gb").value_or(0) == gb) score += 8;
  if (id.find("sxm") != std::string_view::npos && !given.has("pcie")) score += 2;
  if (id.find("pcie") != std::string_view::npos) score += given.has("pcie") ? 4 : -1;
  if (id.find("nvl") != std::string_view::npos) score += given.has("nvl") && !given.has("nvlink") ? 4 : -2;
  if (gb == 0 && id.find("80gb") != std::string_view::npos) score += 1;
  return score;
}

/// The preset whose chip `named` names, of the variant that fits the whole text best.
std::string preset_named(const std::string& named, const std::string& gpu, double gb) {
  Words given;
  given.add(gpu);
  std::string best, best_chip;
  int best_score = -100;
  for (const PresetRow& row : hardware_presets()) {
    const std::string chip = chip_of(row.id);
    if (chip.size() < 2 || !names_chip(named, chip) || chip.size() < best_chip.size()) continue;
    const int score = fitness(row.id, given, gb);
    if (chip.size() == best_chip.size() && score <= best_score) continue;
    best = row.id;
    best_chip = chip;
    best_score = score;
  }
  return best;
}

/// "24GB", and not "936 GB/s" nor what stands behind it ("RTX 3090 + EPYC 512GB").
double memory_gb(const std::string& gpu) {
  std::string all = lower(gpu.substr(0, gpu.find(" + ")));
  for (const char* rate : {"gb/s", "gbps"})
    for (size_t at = all.find(rate); at != std::string::npos; at = all.find(rate)) all[at] = ' ';
  if (const std::optional<double> of_class = number_before(all, "gb class")) return *of_class;
  return number_before(all, "gb").value_or(0);
}

/// MiB that nvidia-smi counts ("97,887 MiB", "23034 MiB"), of one card.
double memory_mib(const std::string& gpu) {
  std::string all;
  for (size_t i = 0; i < gpu.size(); ++i) {
    const bool mark = gpu[i] == ',' && i > 0 && i + 3 < gpu.size() && is_digit(gpu[i - 1]) && is_digit(gpu[i + 1]);
    if (!mark) all += gpu[i];
  }
  return number_before(all, "mib").value_or(0);
}

constexpr double kLeastCardMib = 4096;

/// The only preset of which the driver reports that many MiB.
std::string preset_of_mib(double mib) {
  std::string found;
  for (const PresetRow& row : hardware_presets()) {
    const double reported = number(json::parse(row.json, nullptr, false), "memory_mib");
    if (mib < kLeastCardMib || std::fabs(reported - mib) > 1) continue;
    if (!found.empty()) return "";
    found = row.id;
  }
  return found;
}

/// GB/s and TFLOPS that a text states of a board: all that is known of one that is no preset, and of a variant of one
/// (a laptop's) what differs.
void set_stated_rates(Mapping& m, const std::string& preset, const CardKin* kin, const std::string& gpu) {
  double stated = number_before(gpu, "gb/s").value_or(0);
  if (stated == 0) stated = 1000 * number_before(gpu, "tb/s").value_or(0);
  const double known = kin != nullptr       ? kin->bandwidth
                       : preset == "custom" ? 0
                                            : read_plan("gpu=" + preset).plan.gpu_bw;
  if (std::fabs(stated - known) > 0.05 * known) m.share.set_if("gpu_bw", stated);
  if (preset != "custom" && kin == nullptr) return;
  m.share.set_if("gpu_tflops", number_before(gpu, "tflops").value_or(0));
  if (lower(text(m.c, "weight_dtype")).find("fp8") != std::string::npos)
    m.share.set_if("gpu_tflops", number_before(gpu, "fp8").value_or(0));
}

/// What its box says, or its name.
double marketed_gb(const std::string& preset) {
  for (const PresetRow& row : hardware_presets())
    if (row.id == preset) return number(json::parse(row.json, nullptr, false), "memory_marketed_gb");
  return 0;
}

/// Machines that clouds rent out by names that say no GPU (aws.amazon.com/ec2/instance-types,
/// cloud.google.com/compute/docs/gpus): how the name begins, and its GPU.
struct Machine {
  const char* begins;
  const char* gpu;
};
constexpr Machine kMachines[] = {{"g4dn.", "t4"},
                                 {"g5.", "a10g"},
                                 {"g6.", "l4"},
                                 {"g6e.", "l40s"},
                                 {"p3.", "v100-sxm2-16gb"},
                                 {"p3dn.", "v100-sxm2-32gb"},
                                 {"p4d.", "a100-sxm4-40gb"},
                                 {"p4de.", "a100-sxm4-80gb"},
                                 {"p5.48", "h100-sxm5-80gb"},
                                 {"p5e.", "h200-sxm-141gb"},
                                 {"p5en.", "h200-sxm-141gb"},
                                 {"p6-b200.", "b200-180gb"},
                                 {"g2-standard", "l4"},
                                 {"a2-highgpu", "a100-sxm4-40gb"},
                                 {"a2-megagpu", "a100-sxm4-40gb"},
                                 {"a2-ultragpu", "a100-sxm4-80gb"},
                                 {"a3-highgpu", "h100-sxm5-80gb"},
                                 {"a3-megagpu", "h100-sxm5-80gb"},
                                 {"a3-ultragpu", "h200-sxm-141gb"},
                                 {"a4-highgpu", "b200-180gb"}};

std::string preset_of_machine(const std::string& gpu) {
  const std::string all = lower(gpu);
  for (const Machine& row : kMachines)
    for (size_t at = all.find(row.begins); at != std::string::npos; at = all.find(row.begins, at + 1))
      if (at == 0 || !is_alphanumeric(all[at - 1])) return row.gpu;
  return "";
}

/// The chip of a class of memory that no other has: "not named, so a 141 GB class card".
std::string preset_of_class(const std::string& gpu) {
  std::string found;
  const double gb = number_before(gpu, "gb class").value_or(0);
  for (const PresetRow& row : hardware_presets()) {
    if (gb == 0 || marketed_gb(std::string(row.id)) != gb) continue;
    if (!found.empty() && chip_of(found) != chip_of(row.id)) return "";
    if (found.empty() || row.id.find("sxm") != std::string_view::npos) found = row.id;
  }
  return found;
}

/// What stands in brackets counts where nothing before them is a chip: "288GB class (MI355X, inferred)".
/// A class of memory is of no chip that has another ("141GB class (the text says A100 80GB or H100)").
std::string preset_of(const std::string& gpu, double gb) {
  const std::string before = preset_named(gpu.substr(0, gpu.find('(')), gpu, gb);
  if (!before.empty()) return before;
  const std::string within = preset_named(gpu, gpu, gb);
  const bool classed = gb > 0 && gpu.find("class") < gpu.find('(') && marketed_gb(within) > 0;
  return classed && std::fabs(gb / marketed_gb(within) - 1) > 0.1 ? "" : within;
}

void set_kin(Mapping& m, const CardKin& kin) {
  m.share.set("gpu_bw", kin.bandwidth);
  m.share.set("gpu_tflops", kin.tflops);
  m.share.set_if("watts", kin.watts);
}

/// "Radeon RX 7900 series and RTX 3090": a page of two cards has its figures of the first.
std::string first_card(const std::string& gpu) {
  const size_t end = lower(gpu).find(" and ");
  const bool numbered = end != std::string::npos && first_number(gpu.substr(0, end)) && first_number(gpu.substr(end));
  return numbered && gpu.find('(') > end ? gpu.substr(0, end) : gpu;
}

/// Jean Zay's nodes of 8 A100 have four Omni-Path links of 100 Gb/s (bigscience, train/tr11-176B-ml/README.md).
constexpr double kOmniPathGbS = 4 * 12.5 / 8;

}  // namespace

void map_hardware(Mapping& m) {
  const std::string gpu = first_card(text(m.c, "gpu"));
  Words given;
  given.add(gpu);
  if (given.has("tpu")) m.skip("a TPU");
  if (given.has_any({"gaudi", "trainium"})) m.skip("not a GPU");
  double gb = memory_gb(gpu);
  if (gb == 0 && gpu.empty()) gb = number(m.c, "measured.capacity_GB");
  std::string preset = preset_of(gpu, gb);
  const CardKin* kin = preset.empty() ? card_kin(gpu) : nullptr;
  if (kin != nullptr) {
    preset = kin->preset;
    if (gb == 0 && !number_before(gpu, "gib")) gb = kin->gb;
    set_kin(m, *kin);
  }
  const double gib = gb > 0 ? kReported * gb : number_before(gpu, "gib").value_or(0);
  if (preset.empty()) preset = preset_of_mib(memory_mib(gpu));
  if (preset.empty()) preset = preset_of_machine(gpu);
  if (preset.empty()) preset = preset_of_class(gpu);
  const bool of_workstation = given.has("blackwell") && given.has("pcie");  // the others are on boards of their own
  if (preset.empty() && of_workstation) preset = "rtx-pro-6000-blackwell";
  if (preset.empty() && given.has("blackwell") && !given.has("rtx")) preset = "b200-180gb";
  if (preset.empty() && given.has("ascend") && !given.has("310")) preset = "ascend-910b";  // most of them
  const bool stated = number_before(gpu, "gb/s") || number_before(gpu, "tb/s");
  if (preset.empty() && (gib > 0 || stated)) preset = "custom";
  if (preset.empty()) return;
  m.share.set("gpu", preset);
  if (m.words.has("bigscience")) m.share.set("net_bw", kOmniPathGbS);
  m.share.set_if("watts", number_before(gpu, "w").value_or(0));  // "500W, HBM2e 2.4TB/s"
  set_stated_rates(m, preset, kin, gpu);
  const double marketed = preset == "custom" ? 0 : marketed_gb(preset);
  if (gib > 0 && (gib > 1.05 * marketed || gib < 0.93 * marketed)) m.share.set("gpu_mem", std::floor(100 * gib) / 100);
}

}  // namespace vram::accuracy
