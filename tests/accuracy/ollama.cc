#include "tests/accuracy/ollama.h"

#include <cstdio>

#include "tests/accuracy/serving_words.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

struct Sync {
  double release;
  const char* llamacpp;
};

constexpr double release(int major, int minor, int patch) { return major * 1e6 + minor * 1e3 + patch; }

// github.com/ollama/ollama: FETCH_HEAD of Makefile.sync, and the first release with it.
constexpr Sync kSyncs[] = {{release(0, 7, 0), "2025-05"},   {release(0, 11, 5), "2025-08"},
                           {release(0, 12, 4), "2025-09"},  {release(0, 12, 6), "2025-10"},
                           {release(0, 12, 11), "2025-11"}, {release(0, 13, 3), kLastRunner}};
constexpr double kOwnEngine = release(0, 6, 0);
constexpr double kServesOne = release(0, 10, 0), kServes = release(0, 30, 0), kWeightsAlone = release(0, 6, 1),
                 kLogits = release(0, 3, 10);

/// "0.11" is 0.11.0, "0.11.x (2025-08-22)" what was new on that day. 0: not told.
double release_of(const std::string& given) {
  const std::string said = version_of(given, false), dated = release_of_date(given, "ollama");
  const bool open = lower(given).find(".x") != std::string::npos;
  const std::string& version = said.empty() || (open && !dated.empty()) ? dated : said;
  int major = 0, minor = 0, patch = 0;
  return std::sscanf(version.c_str(), "%d.%d.%d", &major, &minor, &patch) >= 2 ? release(major, minor, patch) : 0;
}

}  // namespace

std::string ollama_runner(const std::string& given) {
  const double number = release_of(given);
  std::string runner;
  for (const Sync& sync : kSyncs)
    if (number >= sync.release && number < kServes) runner = sync.llamacpp;
  return runner;
}

bool ollama_has_engine(const std::string& given) { return release_of(given) >= kOwnEngine; }

bool ollama_weighs_cache(const std::string& given) {
  const double number = release_of(given);
  return number > 0 && number < kWeightsAlone;
}

bool ollama_counts_logits(const std::string& given) {
  const double number = release_of(given);
  return number == 0 || number >= kLogits;
}

bool ollama_serves_one(const std::string& given) {
  const double number = release_of(given);
  return number == 0 || number >= kServesOne;
}

}  // namespace vram::accuracy
