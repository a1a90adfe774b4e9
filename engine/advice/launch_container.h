#pragma once

#include <string>
#include <string_view>

#include "engine/advice/launch_shell.h"

namespace vram {

/// Services of docker compose and pods of Kubernetes as a shell would start them, a line each: their environment, their
/// image, what they run. Other texts as they are.
std::string script_of_containers(std::string_view text);

/// What a command says of the environment in words of its own: docker's -e NAME=VALUE, set, setx, setenv and $env: of
/// other shells, Environment= and ExecStart= of a systemd unit.
void take_environment(ShellCommand& command);

}  // namespace vram
