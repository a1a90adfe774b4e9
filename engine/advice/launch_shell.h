#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vram {

/// One command of a script: what stands before it in the environment, and its words, quotes taken off.
struct ShellCommand {
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> words;
};

/// A text between << WORD and WORD, and the file it was meant for ("" where none is named).
struct ShellDocument {
  std::string file, body;
};

struct ShellScript {
  std::vector<ShellCommand> commands;
  std::vector<ShellDocument> documents;
};

/// What a POSIX shell would make of a text, as far as launch scripts go: quotes, comments, continued lines, variables
/// and arrays that the text itself sets, here-documents. Other expansions stay as they are written.
ShellScript read_script(std::string_view text);

/// A word as a shell takes it back: quoted where it needs it.
std::string shell_word(std::string_view word);

}  // namespace vram
