#include "engine/advice/launch_shell.h"

#include <algorithm>

namespace vram {
namespace {

constexpr size_t kMostWords = 20000;  // of a script, expansions counted

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(" \t\r\n", at), text.size());
    if (end > at) words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// "NAME=" at the start of a word: the length of NAME, else 0.
size_t assigned_name(std::string_view word) {
  size_t length = 0;
  while (length < word.size() && is_name_character(word[length])) ++length;
  const bool digit_first = !word.empty() && word[0] >= '0' && word[0] <= '9';
  return length > 0 && !digit_first && length < word.size() && word[length] == '=' ? length : 0;
}

/// Walks over the text once; variables are known from where they are set.
class ScriptReader {
 public:
  explicit ScriptReader(std::string_view text) : text_(text) {}

  ShellScript read() {
    while (at_ < text_.size() && count_ < kMostWords) step();
    end_command();
    return std::move(script_);
  }

 private:
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

  void step() {
    const char c = here();
    if (is_continuation()) {
      at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
    } else if (is_blank(c)) {
      ++at_;
    } else if (c == '\n') {
      ++at_;
      end_command();
      if (!awaited_.empty()) read_documents();
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == ';' || c == '|' || c == '&') {
      ++at_;
      end_command();
    } else if (c == '<' && next() == '<') {
      await_document();
    } else if (c == '>') {
      at_ += next() == '>' ? 2 : 1;
      redirected_ = true;
    } else {
      const size_t before = at_;
      add(read_word());
      if (at_ == before) ++at_;  // a sign that begins no word
    }
  }

  /// A backslash, or the backtick or caret of Windows' shells, at the end of a line.
  bool is_continuation() const {
    if (here() != '\\' && here() != '`' && here() != '^') return false;
    size_t at = at_ + 1;
    while (at < text_.size() && is_blank(text_[at])) ++at;
    return at < text_.size() && text_[at] == '\n';
  }

  /// A word, which an unquoted variable may turn into several.
  std::vector<std::string> read_word() {
    std::vector<std::string> words(1);
    bool quoted = false;
    while (at_ < text_.size()) {
      const char c = here();
      if (is_blank(c) || c == '\n' || c == ';' || c == '|' || c == '&' || c == '>' || c == '<') break;
      if (c == '(' && words.back().ends_with('=') && assigned_name(words.back()) > 0) return read_array(words.back());
      if (c == '\\' && at_ + 1 < text_.size()) {
        if (is_continuation()) break;
        words.back() += text_[at_ + 1];
        at_ += 2;
      } else if (c == '\'' || c == '"') {
        quoted = true;
        read_quoted(c, words);
      } else if (c == '$') {
        read_variable(words, assigned_name(words.front()) > 0);
      } else if (c == '(') {
        words.back() += balanced();
      } else {
        words.back() += c;
        ++at_;
      }
    }
    if (words.size() == 1 && words[0].empty() && !quoted) words.clear();
    return words;
  }

  void read_quoted(char quote, std::vector<std::string>& words) {
    ++at_;
    while (at_ < text_.size() && here() != quote) {
      if (quote == '"' && here() == '\\' && (next() == '"' || next() == '\\' || next() == '$' || next() == '\n')) {
        if (next() != '\n') words.back() += next();
        at_ += 2;
      } else if (quote == '"' && here() == '$') {
        read_variable(words, true);
      } else {
        words.back() += here();
        ++at_;
      }
    }
    ++at_;
  }

  /// From "(" to its ")".
  std::string balanced() {
    const size_t start = at_;
    int depth = 0;
    do {
      if (here() == '(') ++depth;
      if (here() == ')') --depth;
      ++at_;
    } while (at_ < text_.size() && depth > 0);
    return std::string(text_.substr(start, at_ - start));
  }

  /// $NAME, ${NAME}, ${NAME[@]}, ${NAME:-OTHERWISE}; `whole`: a text stays one word (in quotes, in an assignment).
  void read_variable(std::vector<std::string>& words, bool whole) {
    const size_t start = at_++;
    if (here() == '(') {
      words.back() += "$" + balanced();
      return;
    }
    std::string name, otherwise;
    bool list = false;
    if (here() == '{') {
      const size_t end = std::min(text_.find('}', at_), text_.size());
      std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
      at_ = std::min(end + 1, text_.size());
      if (const size_t bracket = inside.find('['); bracket != std::string_view::npos) {
        list = true;
        inside = inside.substr(0, bracket);
      }
      if (const size_t dash = inside.find(":-"); dash != std::string_view::npos) {
        otherwise = inside.substr(dash + 2);
        inside = inside.substr(0, dash);
      }
      name = inside;
    } else {
      while (is_name_character(here())) name += text_[at_++];
    }
    expand(name, otherwise, std::string(text_.substr(start, at_ - start)), whole && !list, words);
  }

  void expand(const std::string& name, const std::string& otherwise, const std::string& written, bool whole,
              std::vector<std::string>& words) {
    const auto found = variables_.find(name);
    std::vector<std::string> values;
    if (found != variables_.end()) {
      values = found->second;
    } else {
      values = {otherwise.empty() ? written : otherwise};
    }
    if (whole) {
      for (size_t i = 0; i < values.size(); ++i) words.back().append(i == 0 ? "" : " ").append(values[i]);
      return;
    }
    bool first = true;
    for (const std::string& value : values) {
      for (const std::string& word : values.size() == 1 ? words_of(value) : std::vector<std::string>{value}) {
        if (!first) words.emplace_back();
        words.back() += word;
        first = false;
        if (++count_ > kMostWords) return;
      }
    }
  }

  /// NAME=( words ); adds nothing to the command.
  std::vector<std::string> read_array(const std::string& assignment) {
    ++at_;
    std::vector<std::string> values;
    while (at_ < text_.size() && here() != ')' && count_ < kMostWords) {
      if (is_continuation()) {
        at_ = text_.find('\n', at_) + 1;
      } else if (is_blank(here()) || here() == '\n') {
        ++at_;
      } else if (here() == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        read_array_word(values);
      }
    }
    ++at_;
    const bool more = assignment.ends_with("+=");
    const std::string name = assignment.substr(0, assignment.size() - (more ? 2 : 1));
    std::vector<std::string>& variable = variables_[name];
    if (!more) variable.clear();
    variable.insert(variable.end(), values.begin(), values.end());
    return {};
  }

  void read_array_word(std::vector<std::string>& values) {
    const size_t end = std::min(text_.find_first_of(" \t\r\n)", at_), text_.size());
    const bool plain = text_.substr(at_, end - at_).find_first_of("'\"$\\(") == std::string_view::npos;
    if (plain) {
      values.emplace_back(text_.substr(at_, end - at_));
      at_ = end;
      ++count_;
      return;
    }
    const size_t before = at_;
    for (std::string& word : read_word()) values.push_back(std::move(word));
    if (at_ == before) ++at_;
  }

  void add(std::vector<std::string> words) {
    for (std::string& word : words) {
      ++count_;
      if (redirected_) {
        file_ = word;
        redirected_ = false;
        continue;
      }
      const size_t name = assigned_name(word);
      const bool leads = command_.words.empty() || (command_.words.size() == 1 && command_.words[0] == "export");
      if (name > 0 && leads) {
        const std::string value = word.substr(name + 1);
        variables_[word.substr(0, name)] = {value};
        command_.environment.emplace_back(word.substr(0, name), value);
      } else if (!(word == "$" && command_.words.empty())) {  // a prompt
        command_.words.push_back(std::move(word));
      }
    }
    if (words.empty() && at_ < text_.size() && here() == '(') ++at_;
  }

  void end_command() {
    if (!command_.words.empty() || !command_.environment.empty()) script_.commands.push_back(std::move(command_));
    command_ = {};
    if (awaited_.empty()) file_.clear();
    redirected_ = false;
  }

  void await_document() {
    at_ += 2;
    if (here() == '-') ++at_;
    while (is_blank(here())) ++at_;
    const std::vector<std::string> word = read_word();
    if (!word.empty()) awaited_.push_back(word[0]);
  }

  void read_documents() {
    for (const std::string& end : awaited_) {
      ShellDocument document{file_, ""};
      while (at_ < text_.size()) {
        const size_t line_end = std::min(text_.find('\n', at_), text_.size());
        std::string_view line = text_.substr(at_, line_end - at_);
        at_ = std::min(line_end + 1, text_.size());
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line == end) break;
        document.body.append(line).append("\n");
      }
      script_.documents.push_back(std::move(document));
    }
    awaited_.clear();
    file_.clear();
  }

  std::string_view text_;
  size_t at_ = 0, count_ = 0;
  ShellScript script_;
  ShellCommand command_;
  std::map<std::string, std::vector<std::string>> variables_;
  std::vector<std::string> awaited_;  // words that end the here-documents of this line
  std::string file_;                  // that the line's output goes to
  bool redirected_ = false;
};

}  // namespace

ShellScript read_script(std::string_view text) { return ScriptReader(text).read(); }

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/:=,+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace vram
