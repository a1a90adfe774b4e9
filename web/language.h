#pragma once

#include <string>
#include <string_view>

/// The page's language: English, or what a table of presets/languages makes of it. Every text that is drawn or stands
/// in the document passes through here.
namespace vram::language {

/// The other language, as its table has it; spoken from then on if `speak(true)` was.
void learn(std::string_view table);
void speak(bool other);
bool is_english();

/// Valid until the next `forget`, and as long as `english`; ends with a 0 where that does.
std::string_view say(std::string_view english);

/// Forgets what was translated when it has become much: figures change, and each makes another sentence.
void forget();

}  // namespace vram::language
