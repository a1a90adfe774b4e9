#include "engine/advice/log/part_label.h"

#include <algorithm>
#include <string_view>

#include "engine/advice/log/label_words.h"
#include "engine/advice/log/number.h"
#include "engine/advice/log/part_words.h"
#include "engine/text.h"

namespace vram {
namespace {

constexpr size_t kReach = 90;  // characters before a number that may name it
constexpr size_t kRows = 40;   // of a table, up to its head
constexpr int kPiece = 4;      // strokes in a row of a table that lost its head, at most: a name and a size or two
constexpr size_t kBehind = 3;  // words behind a size that may take its name away
constexpr size_t kLeast = 1 << 20;

/// What the words together are the name of.
PartSize part_of(const PartName& name) {
  PartSize part;
  if (name.spoiled || name.count == 0 || name.count > 4) return part;
  const bool weights = name.has(PartWord::weights), kv = name.has(PartWord::kv), graph = name.has(PartWord::graph);
  const bool activation = name.has(PartWord::activation), torch = name.has(PartWord::torch) && name.has(PartWord::non);
  const bool compute = name.has(PartWord::compute), model = name.has(PartWord::model);
  if (weights + kv + (graph && !compute) + activation + torch + compute > 1) return part;
  if ((name.has(PartWord::non) || name.has(PartWord::torch)) && !torch) return part;
  if ((name.has(PartWord::cache) || name.has(PartWord::budget) || name.has(PartWord::room)) && !kv) return part;
  if (name.has(PartWord::pool) && !kv && !graph) return part;
  if (name.has(PartWord::usage) && !weights && !activation && !torch) return part;  // what of a pool is in use
  if (kv) {
    part.what = model ? "" : "kv_bytes";
  } else if (weights || (model && name.count == 1 && !name.has(PartWord::filler))) {
    part.what = "weights_bytes";
    part.weak = !weights || !name.has(PartWord::space);
  } else if (torch) {
    part.what = model ? "" : "non_torch_bytes";
  } else if (activation) {
    part.what = "activation_bytes";
  } else if (compute) {
    part.what = name.has(PartWord::buffer) || graph ? "compute_bytes" : "";
  } else if (graph) {
    part.what = model || name.has(PartWord::buffer) ? "" : "cudagraph_bytes";
    part.weak = !name.has(PartWord::cuda) && !name.has(PartWord::pool);
  }
  return part;
}

/// Around a number.
struct Place {
  const LogText& text;
  size_t at;

  static bool ends_clause(char c) { return std::string_view(",;|{}!?&+").find(c) != std::string_view::npos; }

  /// Where the clause begins that ends in the number; npos: it does not begin near enough, or is one of a list whose
  /// sum follows, "weights, KV cache: 60 GiB".
  size_t clause() const {
    const size_t prefix = text.prefix_before(at);
    int open = 0;
    size_t from = at;
    while (from > prefix && text.gap(from) != Gap::line) {
      if (at - from >= kReach) return std::string::npos;
      const char c = text.at(from - 1);
      if (c == ')' || c == ']') ++open;
      if ((c == '(' || c == '[') && open-- == 0 && from != at) break;
      if (open <= 0 && ends_clause(c)) return lists_parts(from - 1) ? std::string::npos : from;
      if (c == '.' && text.gap(from) != Gap::none) break;
      --from;
    }
    return from;
  }

  /// "weights +", "activations,": the name of a part, with no size of its own.
  bool lists_parts(size_t sign) const {
    if (sign == 0 || std::string_view("+,&").find(text.at(sign)) == std::string_view::npos) return false;
    size_t begin = sign;
    while (begin > 0 && is_letter(text.at(begin - 1)) && (begin == sign || text.gap(begin) == Gap::none)) --begin;
    PartName one;
    if (begin < sign) PartWords{text}.add(begin, sign, one);
    return one.count > 0;
  }

  size_t line_begin(size_t from) const {
    while (from > 0 && text.gap(from) != Gap::line) --from;
    return from;
  }

  /// The stroke before the cell that the number begins; npos: it is in none.
  size_t cell() const {
    const size_t prefix = text.prefix_before(at);  // of a container, "app-1 |"
    const auto inside = [&](size_t i) { return i > prefix && text.gap(i) != Gap::line; };
    size_t begin = at;
    while (inside(begin) && is_sign(text.at(begin - 1)) && text.at(begin - 1) != '|') --begin;
    return inside(begin) && text.at(begin - 1) == '|' ? begin - 1 : std::string::npos;
  }

  /// The name in the row of a table: of the nearest cell to the left that holds no number.
  PartName row_name(size_t stroke) const {
    const size_t line = line_begin(stroke);
    size_t end = stroke;
    while (end > line && stroke - end < 4 * kReach) {
      size_t begin = end;
      while (begin > line && text.at(begin - 1) != '|') --begin;
      if (begin < end && !is_digit(text.at(begin))) return PartWords{text}.read(begin, end);
      if (begin == line) break;
      end = begin - 1;
    }
    return {};
  }

  int strokes(size_t from, size_t to) const {
    return static_cast<int>(std::count(text.characters.begin() + static_cast<ptrdiff_t>(from),
                                       text.characters.begin() + static_cast<ptrdiff_t>(to), '|'));
  }

  /// "|---|---:|"
  bool is_rule(size_t line, size_t end) const {
    return end > line && std::all_of(text.characters.begin() + static_cast<ptrdiff_t>(line),
                                     text.characters.begin() + static_cast<ptrdiff_t>(end),
                                     [](char c) { return c == '|' || c == '-' || c == ':' || c == '>'; });
  }

  /// True where the column's head, or the lack of one, leaves the cell to its row: no column of what was saved, of a
  /// disk, of what was expected.
  bool column_is_open(size_t stroke) const {
    const size_t row = line_begin(stroke);
    const int column = strokes(text.behind_prefix(row), stroke);
    size_t end = row, line = row;
    for (size_t rows = 0; rows < kRows && end > 0; ++rows) {
      line = line_begin(end - 1);
      const size_t begin = text.behind_prefix(line);
      if (is_rule(begin, end) && line > 0) return head_is_open(line_begin(line - 1), line, column);
      if (strokes(begin, end) == 0) break;
      end = line;
    }
    return strokes(text.behind_prefix(row), line_end(at)) <= kPiece;
  }

  size_t line_end(size_t from) const {
    while (from < text.size() && (from == at || text.gap(from) != Gap::line)) ++from;
    return from;
  }

  bool head_is_open(size_t line, size_t end, int column) const {
    size_t begin = text.behind_prefix(line);
    for (int strokes = 0; begin < end; ++begin) {
      if (text.at(begin) == '|' && ++strokes > column) break;
    }
    for (size_t i = begin + 1; i < end && text.at(i) != '|';) {
      if (is_sign(text.at(i))) {
        ++i;
        continue;
      }
      const PartWords words{text};
      const size_t stop = words.word_end(i, end);
      PartName one;
      words.add(i, stop, one);
      if (one.spoiled && words.is_of_else(i, stop)) return false;
      i = stop;
    }
    return true;
  }

  /// PartWords behind a size that make it another thing's: "14 GB on disk", "0.1 MiB per token"; a GPU is none.
  bool taken_away(size_t end) const {
    const PartWords words{text};
    if (text.at(end) == '(') {
      PartName inside;
      words.skip_bracket(end, std::min(text.size(), end + kReach), inside);
      return inside.spoiled;
    }
    for (size_t i = 0; i < kBehind && text.gap(end) != Gap::line && is_letter(text.at(end)); ++i) {
      const size_t stop = words.word_end(end, text.size());
      PartName one;
      words.add(end, stop, one);
      const bool per_gpu = stop - end == 3 && is_other(meaning(text, end, stop)) && is_worker(stop);
      if (one.spoiled && words.is_of_else(end, stop)) return !per_gpu;
      end = stop;
    }
    return false;
  }

  bool is_worker(size_t start) const {
    constexpr std::string_view kWorkers[] = {"gpu", "card", "device", "rank", "worker", "node"};
    char letters[kLongestPartWord];
    const std::string_view word = lower_word(text, start, PartWords{text}.word_end(start, text.size()), letters);
    return std::find(std::begin(kWorkers), std::end(kWorkers), word) != std::end(kWorkers);
  }

  /// "for the KV cache", "KV cache," behind a size; what stands before may only say that it is there.
  PartName name_behind(size_t end) const {
    const PartWords words{text};
    const size_t begin = clause();
    if (begin == std::string::npos) return {};
    const PartName before = words.read(begin, at);
    if (before.spoiled || before.count > (before.has(PartWord::room) ? 1 : 0)) return {};
    PartName name;
    bool linked = false, ended = false;
    for (int i = 0; i < 6 && !ended; ++i) {
      ended = text.gap(end) == Gap::line || !is_letter(text.at(end));
      if (ended) break;
      const size_t stop = words.word_end(end, text.size());
      PartName one;
      words.add(end, stop, one);
      if (one.spoiled) break;
      linked = linked || (i == 0 && one.has(PartWord::link));
      words.add(end, stop, name);
      end = stop;
      if (text.gap(end) == Gap::none && text.at(end) == '-') ++end;
    }
    const bool stops =
        text.gap(end) == Gap::line || std::string_view(",;|()+.").find(text.at(end)) != std::string_view::npos;
    if (!(stops || (linked && name.has(PartWord::kv)))) return {};
    return name;
  }

  PartSize named(size_t end) const {
    if (const size_t begin = clause(); begin != std::string::npos && begin < at) {
      const PartSize before = part_of(PartWords{text}.read(begin, at));
      if (before.what[0] != 0) return before;
    }
    if (const size_t stroke = cell(); stroke != std::string::npos) {
      const PartSize part = part_of(row_name(stroke));
      return part.what[0] != 0 && column_is_open(stroke) ? part : PartSize{};
    }
    return part_of(name_behind(end));
  }
};

/// Of a word that names a part; empty: none begins so.
constexpr std::string_view stem_from(char c) {
  switch (c) {
    case 'k':
      return "kv";
    case 'w':
      return "weight";
    case 'g':
      return "graph";
    case 'a':
      return "activ";
    case 't':
      return "torch";
    case 'c':
      return "compu";
    case 'm':
      return "model";
    default:
      return {};
  }
}

bool tokens_follow(const LogText& text, size_t end) {
  constexpr std::string_view kTokens = "tokens";
  for (size_t i = 0; i < kTokens.size(); ++i) {
    if (lower_case(text.at(end + i)) != kTokens[i] || (i > 0 && text.gap(end + i) != Gap::none)) return false;
  }
  return text.gap(end) == Gap::blank;
}

}  // namespace

bool line_names_part(const LogText& text, size_t at) {
  size_t i = at;
  while (i > 0 && text.gap(i) != Gap::line) --i;
  for (size_t begin = i; i < text.size() && (i == begin || text.gaps[i] != Gap::line); ++i) {
    const std::string_view stem = stem_from(lower_case(text.characters[i]));
    size_t same = 1;
    while (same < stem.size() && lower_case(text.at(i + same)) == stem[same]) ++same;
    if (!stem.empty() && same == stem.size()) return true;
  }
  return false;
}

PartSize scan_part(const LogText& text, size_t at) {
  const NumberScan number = scan_number(text, at);
  const bool guess = at > 0 && text.at(at - 1) == '~' && number.decimals == 0;  // what was measured has decimals
  if (number.result != Scan::read || guess) return {};
  const UnitScan unit = scan_unit(text, number.end, Gigabyte::binary);
  const bool sized = unit.bytes > 1 && unit.end > number.end + 1 && text.gap(number.end) != Gap::line;
  const bool tokens = !sized && number.decimals == 0 && tokens_follow(text, number.end);
  if (!sized && !tokens) return {};
  const size_t end = sized ? unit.end : number.end + 6;
  if (text.at(end) == '/' && text.gap(end) == Gap::none) return {};  // a rate
  const Place place{text, at};
  PartSize part = place.named(end);
  if (part.what[0] == 0 || place.taken_away(end)) return {};
  part.end = end;
  part.tokens = tokens;
  if (tokens) {
    if (std::string_view(part.what) != "kv_bytes") return {};
    part.what = "kv_tokens";
    part.value = static_cast<int64_t>(number.digits);
    return part;
  }
  if (!number_bytes(number, unit.bytes, part.value) || part.value < static_cast<int64_t>(kLeast)) return {};
  return part;
}

}  // namespace vram
