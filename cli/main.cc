#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/say.h"
#include "engine/plan/near.h"
#include "engine/report/report.h"

namespace {

struct Command {
  std::string_view name;
  int (*run)(const cli::Arguments&);
};

constexpr Command kCommands[] = {{"estimate", cli::estimate}, {"plan", cli::plan}, {"diagnose", cli::diagnose},
                                 {"models", cli::models},     {"gpus", cli::gpus}, {"link", cli::link},
                                 {"batch", cli::batch},       {"keys", cli::keys}, {"help", cli::help}};

int unknown_command(const std::string& given) {
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) names.push_back(command.name);
  const bool is_plan = given.find('=') != std::string::npos;
  cli::say(is_plan ? "a command comes before the plan: vram-ledger estimate '" + given + "'"
                   : "unknown command " + given + vram::did_you_mean(given, names) + " (vram-ledger --help)");
  return cli::kNoAnswer;
}

int run(const cli::Arguments& arguments) {
  if (!arguments.fault.empty()) {
    cli::say(arguments.fault);
    return cli::kNoAnswer;
  }
  if (arguments.version) {
    cli::print(std::string("vram-ledger ") + vram::kEngineVersion + "\n");
    return cli::kAnswered;
  }
  if (arguments.help || arguments.command.empty()) return cli::help(arguments);
  for (const Command& command : kCommands) {
    if (command.name == arguments.command) return command.run(arguments);
  }
  return unknown_command(arguments.command);
}

}  // namespace

int main(int count, char** texts) {
  const int status = run(cli::read_arguments(count, texts));
  if (cli::is_printed()) return status;
  cli::say("standard output: what was to be printed could not be written");
  return cli::kNoAnswer;
}
