#pragma once

#include <bitset>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/advice/launch.h"

// One table a launcher, read in both directions.
namespace vram {

/// A flag of a launcher and the key that says the same. Rows of one key are alternatives: of those given the first
/// counts, and the first whose words have the key's value is written.
struct FlagRow {
  Key key;
  std::string_view names;   // without dashes, '-' for '_'; the first is the one that is written
  std::string_view words;   // "theirs=ours ..."; "=ours" is the flag without a value; "" = the value as it is
  std::string_view absent;  // the key's value where the flag is not given; "" = the key's own default; "?" = depends
};

/// One flag as it stands in a command or a file.
struct GivenFlag {
  std::string name;   // without dashes, '-' for '_'
  std::string value;  // "" where it has none
  std::string text;   // as it was given
  bool used = false;
};

/// What a command says: flags, and the words that belong to none.
struct GivenFlags {
  std::vector<GivenFlag> flags;
  std::vector<std::string> words;

  /// The last flag of one of the names (separated by spaces); it then counts as used.
  const GivenFlag* find(std::string_view names);
  bool has(std::string_view names) { return find(names) != nullptr; }
  std::string value(std::string_view names);
  /// A number above zero, or `otherwise`.
  double number(std::string_view names, double otherwise);
  void add(std::string_view name, std::string_view value);
};

/// A switch may stand before a word that is not its value: the tables tell.
GivenFlags read_flags(std::span<const std::string> words, std::initializer_list<std::span<const FlagRow>> tables);

/// Fills a plan. Values are stored first and resolved together, so that the order of flags does not matter.
class LaunchReader {
 public:
  LaunchReader(const Plan& plan, LaunchReading& out) : out_(out) { out_.plan = plan; }

  Plan& plan() { return out_.plan; }
  LaunchReading& out() { return out_; }

  void set(Key key, std::string_view value, std::string_view flag = "");
  void clear(Key key);
  /// Every row of a table: what is given, else what the launcher does then.
  void read_table(std::span<const FlagRow> rows, GivenFlags& given);
  /// A preset by the name or path of a model; an unknown one is said, and `custom`.
  void read_model(std::string_view name, std::string_view flag);
  /// A model whose flags say its shape, on top of a preset or of nothing.
  void take_model(std::string_view id, std::string_view flag);
  /// Of a server whose checkpoint's name says its format, where no flag does.
  void read_format_of_model();
  void note(Key key, std::string_view given, const std::string& text);
  void resolve_now();

 private:
  LaunchReading& out_;
  bool named_model_ = false;  // by an earlier command of the script
  std::string model_name_;
};

/// Collects a command from a plan.
class LaunchWriter {
 public:
  explicit LaunchWriter(const Plan& plan) : plan_(plan) {}

  const Plan& plan() const { return plan_; }
  void write_table(std::span<const FlagRow> rows);
  void flag(std::string_view name, std::string_view value = "");
  void said(std::initializer_list<Key> keys);
  bool is_said(Key key) const { return said_.test(static_cast<size_t>(key)); }
  void comment(std::string text) { comments.push_back(std::move(text)); }

  std::string dashes = "--";
  char between_words = '-';        // '_' for launchers whose flags have it
  std::vector<std::string> flags;  // "--tp 8"
  std::vector<std::string> comments;

 private:
  const Plan& plan_;
  std::bitset<kKeyCount> said_;
};

/// A plain number: counts as digits, sizes in GiB, shares as decimals.
std::string plain_value(const Plan& plan, Key key);

/// "32k" = 32000, "32K" = 32768, as vLLM's and SGLang's human_readable_int reads lengths; else as it is.
std::string read_length(std::string_view text);

// Names of models.

/// The preset that a Hugging Face id, a path or a file name means; "" where there is none.
std::string preset_of_model_name(std::string_view name);
/// What a launcher takes: the preset's Hugging Face id where it is known, else the preset's own.
std::string model_name_of(const Plan& plan);
/// The storage format in the name of a GGUF or quantised checkpoint: "q4_k_m", "awq"; "" where it says none.
std::string format_in_name(std::string_view name);
/// Any that a GGUF file's name says, known or not: "q4_k_xl".
std::string gguf_format_in_name(std::string_view name);
/// What `vllm serve` is told to serve, wherever it stands among the flags; "" where nothing is.
std::string served_model(std::string_view command);

}  // namespace vram
