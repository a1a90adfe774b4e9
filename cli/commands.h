#pragma once

#include "cli/arguments.h"

namespace cli {

// Each answers the exit status.
int estimate(const Arguments& arguments);
int plan(const Arguments& arguments);
int diagnose(const Arguments& arguments);
int link(const Arguments& arguments);
int batch(const Arguments& arguments);
int models(const Arguments& arguments);
int gpus(const Arguments& arguments);
int keys(const Arguments& arguments);
int help(const Arguments& arguments);

}  // namespace cli
