#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/advice/log/number.h"
#include "engine/advice/log/text.h"

namespace vram {

enum class RowRole : uint8_t {
  figures,
  starts,       // a message of its own begins here: figures behind it belong together
  prefix,       // stands before the text of a line and says whose it is
  words,        // a name or a path that only this program has: says whose the log is
  environment,  // a variable's name: in capitals
  phrase,       // words that mean something else behind another word: "KV cache memory used"
  loose         // words of nobody's own: a number without a unit is no size there, and not missed
};

/// One thing that a tool prints. A pattern is the text, with these in it (white space does not count, neither do
/// capitals; a text that is cut off inside words still counts):
///   {S name}  a size with its unit      {M name} {G name}  a bare number of MiB, of GiB
///   {D name}  a bare number of 10^9 bytes
///   {B name}  bytes                     {P name}           pages of 4,096 bytes
///   {b name}  bytes in a print of the user's own: below 2^20 they are another unit, which is missing, or stands before
///             the number, "GB):"
///   {n name}  a whole number            {f name}           any number
///   {w name}  a word, no option         {t name}           text up to what follows, on the line
///   {m name}  a word that a model or a path may be: with a slash or a digit
///   {p name}  the word before the row, at its beginning alone
///   {L name}  sizes, one after the other
///   <...>     may be missing            ^                  what is behind may be missing, from some point on
///   ~         anything, to the next line   $               anything, up to three lines on
///   @         any of '":=,()|, and Kubernetes' "value:"      !  a row of dots or of bars
///   &         the end of a line
/// A capture without a name is read over. Sizes are reported as name_bytes; where the row has an `on`, those of a
/// device or buffer, as name_by_device. `device`, `rank`, `tp_rank`: whose the whole message is.
struct LogRow {
  const char* pattern;
  const char* says = "";  // what the text means by itself: "resource=host;stage=kv"; "unread=..." what it fails to say
  RowRole role = RowRole::figures;
};

/// The rows of one tool. To teach the reader a message, add a row.
struct LogFamily {
  const char* tool;
  Gigabyte gigabyte;
  std::span<const LogRow> rows;
};

enum class CaptureKind : uint8_t { bytes, number, text };

struct Capture {
  std::string name;  // "tried_bytes"
  CaptureKind kind = CaptureKind::number;
  Scan result = Scan::read;
  int64_t bytes = 0;
  double number = 0;
  std::string text;
  size_t begin = 0, end = 0;  // in the log's characters
};

struct RowMatch {
  bool matched = false;
  size_t end = 0;
  std::vector<Capture> captures;  // also those that could not be read; where `matched` is false, only those
};

RowMatch match_row(std::string_view pattern, Gigabyte gigabyte, const LogText& text, size_t at);

/// A row does not begin inside a word or a number.
bool inside_word(const LogText& text, size_t at);

/// One of the signs of a pattern that stand for something else.
bool is_pattern_sign(char c);

}  // namespace vram
