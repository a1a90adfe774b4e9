// The fuzzers without libFuzzer, for every compiler: each input of the given folders, then COUNT changed ones, the same
// in every run. fuzz_NAME COUNT FOLDER...: what a sanitizer finds, an abort or a slow input ends it, and that input is
// then in the file fuzz-input.
#include <sanitizer/common_interface_defs.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size);

namespace {

constexpr double kMostSeconds = 10;  // of one input, under sanitizers
constexpr size_t kLongest = 65536;

/// A fixed sequence of numbers (xorshift64*, Vigna 2016).
struct Random {
  uint64_t state = 88172645463325252u;
  size_t below(size_t limit) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return static_cast<size_t>((state * 2685821657736338717u >> 11) % limit);
  }
};

// What readers trip over: their own separators, numbers too large, text cut in the middle of a character.
const std::string kPieces[] = {"&",      "=",
                               "%",      "%00",
                               "%zz",    "#",
                               "\"",     "{",
                               "}",      "[",
                               "]",      ",",
                               ":",      "-",
                               "--",     "1e308",
                               "1e-320", "99999999999999999999",
                               "0",      "-1",
                               "nan",    "inf",
                               "\n",     "\\",
                               "'",      "\xe2\x80",
                               "\xff",   "1,000",
                               "GB",     "null",
                               "e",      ".",
                               "\x1b[",  std::string(1, '\0')};

std::string changed(const std::vector<std::string>& inputs, Random& random) {
  std::string text = inputs[random.below(inputs.size())];
  for (size_t changes = 1 + random.below(8); changes > 0; --changes) {
    const size_t at = random.below(text.size() + 1), length = 1 + random.below(16);
    switch (random.below(5)) {
      case 0:
        text.insert(at, kPieces[random.below(std::size(kPieces))]);
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random.below(256));
        break;
      case 3:
        text.insert(at, text.substr(random.below(text.size() + 1), length * length));
        break;
      default: {  // the beginning of one input, the end of another
        const std::string& other = inputs[random.below(inputs.size())];
        text = text.substr(0, at) + other.substr(random.below(other.size() + 1));
      }
    }
  }
  return text.substr(0, kLongest);
}

std::vector<unsigned char> current;

void keep_input() {
  std::ofstream("fuzz-input", std::ios::binary)
      .write(reinterpret_cast<const char*>(current.data()), static_cast<std::streamsize>(current.size()));
}
void keep_input_of_abort(int) { keep_input(); }

void try_input(const std::string& text) {
  std::vector<unsigned char>(text.begin(), text.end()).swap(current);  // of its own size: a byte beyond is noticed
  const auto start = std::chrono::steady_clock::now();
  LLVMFuzzerTestOneInput(current.data(), current.size());
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (taken.count() < kMostSeconds) return;
  std::printf("%.1f s for %zu bytes\n", taken.count(), text.size());
  std::abort();
}

std::vector<std::string> inputs_of(const char* folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

}  // namespace

int main(int count, char** arguments) {
  __sanitizer_set_death_callback(keep_input);
  std::signal(SIGABRT, keep_input_of_abort);
  std::vector<std::string> inputs = {""};
  for (int i = 2; i < count; ++i)
    for (std::string& input : inputs_of(arguments[i])) inputs.push_back(std::move(input));
  for (const std::string& input : inputs) try_input(input);
  Random random;
  const int changes = count > 1 ? std::atoi(arguments[1]) : 0;
  for (int i = 0; i < changes; ++i) try_input(changed(inputs, random));
  std::printf("%zu inputs and %d changed ones passed\n", inputs.size(), changes);
  return 0;
}
