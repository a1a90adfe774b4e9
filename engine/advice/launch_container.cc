#include "engine/advice/launch_container.h"

#include <algorithm>
#include <vector>

#include "engine/plan/texts.h"
#include "engine/text.h"

namespace vram {
namespace {

size_t indent_of(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

std::string unquoted(std::string_view text) {
  text = trimmed(text);
  const bool quoted = text.size() > 1 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0];
  if (quoted) return std::string(text.substr(1, text.size() - 2));
  const size_t comment = text.find(" #");
  return std::string(trimmed(text.substr(0, comment)));
}

/// One argument: as a shell would take it, but that people write "--flag value" in one.
std::string argument(std::string_view item) {
  std::string word = unquoted(item);
  const bool flag_and_value = word.starts_with('-') && word.find_first_of("{\"'$") == std::string::npos;
  return flag_and_value ? word : shell_word(word);
}

/// A service or a container, as far as it is read.
struct Container {
  std::string environment, image, command;
  bool is_script = false;  // what follows is the text that a shell is told to run

  void add(std::string_view item) {
    const std::string word = unquoted(item);
    const bool shell = command.empty() && (word.ends_with("/sh") || word.ends_with("bash") || word == "sh");
    if (shell || (is_script && word.starts_with('-') && word.ends_with('c'))) {
      is_script = true;
      return;
    }
    command += " " + (is_script ? word : argument(item));
  }

  void add_variable(std::string_view name, std::string_view value) {
    environment += std::string(name) + "=" + shell_word(value) + " ";
  }

  /// Each line of a script may be a command of its own.
  std::string line() const { return environment + (is_script ? "" : image) + command + "\n"; }
};

/// A line without its indent, and without the mark of a list's item.
std::string_view content_of(std::string_view line) {
  line = trimmed(line);
  return line.starts_with("- ") ? trimmed(line.substr(2)) : line;
}

/// The value behind "name:" on this line, which may be an item of a list.
bool has_name(std::string_view line, std::string_view name, std::string_view& value) {
  line = content_of(line);
  if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') return false;
  value = trimmed(line.substr(name.size() + 1));
  return true;
}

class ContainerReader {
 public:
  explicit ContainerReader(std::string_view text) : lines_(split(text, '\n')) {}

  std::string read() {
    for (; at_ < lines_.size(); ++at_) read_line();
    flush();
    return std::move(out_);
  }

 private:
  void flush() {
    if (!now_.image.empty() || !now_.command.empty()) out_ += now_.line();
    now_ = {};
  }

  void read_line() {
    std::string_view value;
    const std::string_view line = lines_[at_];
    if (has_name(line, "image", value)) {
      if (!now_.image.empty()) flush();
      now_.image = unquoted(value);
    } else if (has_name(line, "command", value) || has_name(line, "args", value) ||
               has_name(line, "entrypoint", value)) {
      read_words(value);
    } else if (has_name(line, "environment", value) || has_name(line, "env", value)) {
      read_variables();
    }
  }

  /// Of the lines that belong to this one.
  bool next_inside(size_t indent) {
    const size_t next = at_ + 1;
    if (next >= lines_.size()) return false;
    const std::string_view content = trimmed(lines_[next]);
    const size_t own = indent_of(lines_[next]);
    if (!content.empty() && (own < indent || (own == indent && content[0] != '-'))) return false;
    ++at_;
    return true;
  }

  void read_words(std::string_view value) {
    const size_t indent = indent_of(lines_[at_]);
    if (value.starts_with('[')) return read_list(value);
    const bool block = value.starts_with('>') || value.starts_with('|');
    if (!value.empty() && !block) now_.command += " " + unquoted(value);
    const bool script = now_.is_script || value.starts_with('|');
    while (next_inside(indent)) {
      const std::string_view content = trimmed(lines_[at_]);
      if (content.empty() || content[0] == '#') continue;
      if (content.starts_with("- |") || content.starts_with("- >")) {
        read_block(content[2] == '|');
      } else if (content.starts_with("- ") && value.empty()) {
        now_.add(content.substr(1));
      } else {  // a plain text goes on
        now_.command += (script ? "\n" : " ") + std::string(content);
      }
    }
  }

  void read_block(bool lines) {
    const size_t indent = indent_of(lines_[at_]);
    while (at_ + 1 < lines_.size() && (trimmed(lines_[at_ + 1]).empty() || indent_of(lines_[at_ + 1]) > indent)) {
      now_.command += (lines ? "\n" : " ") + std::string(trimmed(lines_[++at_]));
    }
  }

  /// ["--model", "x"], over several lines.
  void read_list(std::string_view value) {
    std::string all(value);
    while (all.find(']') == std::string::npos && at_ + 1 < lines_.size()) all += lines_[++at_];
    std::string item;
    char quote = '\0';
    for (const char c : std::string_view(all).substr(1)) {
      const bool ends = quote == '\0' && (c == ',' || c == ']');
      if (ends && !trimmed(item).empty()) now_.add(item);
      if (ends) item.clear();
      if (ends && c == ']') return;
      if (!ends) item += c;
      if (quote == c) {
        quote = '\0';
      } else if (quote == '\0' && (c == '"' || c == '\'')) {
        quote = c;
      }
    }
  }

  /// "- NAME=VALUE", "NAME: VALUE", "- name: NAME" and "value: VALUE" below.
  void read_variables() {
    const size_t indent = indent_of(lines_[at_]);
    std::string name;
    while (next_inside(indent)) {
      const std::string_view content = content_of(lines_[at_]);
      std::string_view value;
      const size_t equals = content.find('='), colon = content.find(':');
      if (has_name(content, "name", value)) {
        name = unquoted(value);
      } else if (has_name(content, "value", value)) {
        now_.add_variable(name, unquoted(value));
      } else if (equals < colon) {
        const std::string pair = unquoted(content);
        now_.add_variable(pair.substr(0, pair.find('=')), pair.substr(pair.find('=') + 1));
      } else if (colon != std::string_view::npos) {
        now_.add_variable(content.substr(0, colon), unquoted(content.substr(colon + 1)));
      }
    }
  }

  std::vector<std::string_view> lines_;
  size_t at_ = 0;
  Container now_;
  std::string out_;
};

/// A line of a file of services: "image: x", which no shell has.
bool names_image(std::string_view text) {
  std::string_view image;
  const std::vector<std::string_view> lines = split(text, '\n');
  return std::any_of(lines.begin(), lines.end(), [&](std::string_view line) { return has_name(line, "image", image); });
}

void add_pair(ShellCommand& command, std::string_view pair) {
  const size_t equals = pair.find('=');
  if (equals == std::string_view::npos || equals == 0) return;
  command.environment.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
}

/// docker run -e NAME=VALUE --env NAME=VALUE --env=NAME=VALUE
void take_options(ShellCommand& command) {
  const std::vector<std::string>& words = command.words;
  for (size_t i = 1; i < words.size(); ++i) {
    const bool option = words[i - 1] == "-e" || words[i - 1] == "--env";
    if (option) add_pair(command, words[i]);
    if (words[i].starts_with("--env=")) add_pair(command, std::string_view(words[i]).substr(6));
  }
}

/// setx NAME VALUE, launchctl setenv NAME VALUE, set NAME=VALUE, $env:NAME = VALUE
void take_settings(ShellCommand& command) {
  const std::vector<std::string>& words = command.words;
  constexpr std::string_view kShell = "$env:";
  const bool power = words[0].starts_with(kShell);
  const size_t name = words[0] == "launchctl" ? 2 : power ? 0 : 1;
  if (name >= words.size()) return;
  std::string pair = words[name].substr(power ? kShell.size() : 0);
  if (pair.find('=') == std::string::npos) {
    const bool sign = name + 1 < words.size() && words[name + 1] == "=";
    const size_t value = name + (sign ? 2 : 1);
    if (value >= words.size()) return;
    pair += "=" + words[value];
  }
  add_pair(command, pair);
}

}  // namespace

std::string script_of_containers(std::string_view text) {
  return names_image(text) ? ContainerReader(text).read() : std::string(text);
}

void take_environment(ShellCommand& command) {
  for (const auto& [name, value] : std::vector(command.environment)) {
    if (name == "Environment") add_pair(command, value);
    if (name == "ExecStart") command.words.insert(command.words.begin(), value);
  }
  if (command.words.empty()) return;
  const std::string& first = command.words[0];
  if (first == "docker" || first == "podman" || first == "nerdctl" || first == "sudo") take_options(command);
  if (first == "set" || first == "setx" || first == "launchctl" || first.starts_with("$env:")) take_settings(command);
}

}  // namespace vram
