// Measured cases against the engine's estimates: how far off, family by family.

#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "tests/accuracy/cases.h"
#include "tests/accuracy/print.h"

using namespace vram::accuracy;

namespace {

constexpr const char* kUsage = "usage: vram-accuracy FILE... [--format text|json] [--list]\n";

struct Options {
  std::vector<std::string> files;
  std::string format = "text";
  bool list = false, valid = true;
};

/// Facts about models that served cases name and that are no presets: NAME_models.json beside NAME.json.
json models_beside(const std::string& path) {
  std::string error;
  return read_cases(path.substr(0, path.rfind(".json")) + "_models.json", &error);
}

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--list") options.list = true;
    else if (argument == "--format" && i + 1 < argc) options.format = argv[++i];
    else if (argument.rfind("--", 0) == 0) options.valid = false;
    else options.files.push_back(argument);
  }
  options.valid &= !options.files.empty() && (options.format == "text" || options.format == "json");
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  if (!options.valid) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  std::vector<Measurement> measurements;
  for (const std::string& path : options.files) {
    std::string error;
    const json cases = read_cases(path, &error);
    if (cases.is_null()) {
      std::fprintf(stderr, "vram-accuracy: %s\n", error.c_str());
      return 2;
    }
    std::vector<Measurement> some = measurements_of(cases, models_beside(path));
    std::move(some.begin(), some.end(), std::back_inserter(measurements));
  }
  if (options.list) std::fputs(case_list(measurements).c_str(), stdout);
  const std::vector<Score> table = scores(measurements);
  if (!options.list || options.format == "json")
    std::fputs((options.format == "json" ? json_table(table) : text_table(table)).c_str(), stdout);
  return 0;
}
