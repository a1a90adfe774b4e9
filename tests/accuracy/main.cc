// Measured cases against the engine's estimates: how far off, family by family.

#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "tests/accuracy/cases.h"
#include "tests/accuracy/print.h"

using namespace vram::accuracy;

namespace {

constexpr const char* kUsage = "usage: vram-accuracy FILE... [--format text|json|markdown|cases] [--list]\n";

struct Options {
  std::vector<std::string> files;
  std::string format = "text";
  bool list = false, valid = true;
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--list")
      options.list = true;
    else if (argument == "--format" && i + 1 < argc)
      options.format = argv[++i];
    else if (argument.rfind("--", 0) == 0)
      options.valid = false;
    else
      options.files.push_back(argument);
  }
  const std::string& f = options.format;
  options.valid &= !options.files.empty() && (f == "text" || f == "json" || f == "markdown" || f == "cases");
  return options;
}

/// Facts about models that served cases name and that are no presets: NAME_models.json beside NAME.json.
json models_beside(const std::string& path) {
  std::string error;
  return read_cases(path.substr(0, path.rfind(".json")) + "_models.json", &error);
}

std::string printed(const Options& options, const std::vector<Measurement>& measurements,
                    const std::vector<Score>& table) {
  if (options.format == "json") return json_table(table);
  if (options.format == "markdown") return accuracy_page(measurements, table);
  if (options.format == "cases") return own_cases(measurements);
  return options.list ? case_list(measurements) : text_table(table);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  if (!options.valid) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  std::vector<Measurement> measurements;
  std::vector<json> files;
  for (const std::string& path : options.files) {
    std::string error;
    files.push_back(read_cases(path, &error));
    if (files.back().is_null()) {
      std::fprintf(stderr, "vram-accuracy: %s\n", error.c_str());
      return 2;
    }
    std::vector<Measurement> some = measurements_of(files.back(), models_beside(path));
    std::move(some.begin(), some.end(), std::back_inserter(measurements));
  }
  std::vector<Score> table = scores(measurements);
  for (const json& file : files) set_bounds(file, table);
  std::fputs(printed(options, measurements, table).c_str(), stdout);
  return 0;
}
