#include "engine/advice/log/windows.h"

#include "engine/text.h"

namespace vram {
namespace {

/// "C:\Users", in JSON "C:\\Users"; the drive stands behind no other letter.
bool names_drive(std::string_view log) {
  for (size_t at = log.find(":\\"); at != std::string_view::npos; at = log.find(":\\", at + 1)) {
    const bool drive = at >= 1 && is_letter(log[at - 1]) && (at < 2 || !is_alphanumeric(log[at - 2]));
    const size_t behind = log.find_first_not_of('\\', at + 1);
    const bool path = behind != std::string_view::npos && is_letter(log[behind]);
    const bool escape = behind == at + 2 && std::string_view("nrt\"").find(log[behind]) != std::string_view::npos;
    if (drive && path && !escape) return true;
  }
  return false;
}

}  // namespace

bool segments_are_fixed(std::string_view log) {
  for (const std::string_view words :
       {"WDDM", "\\site-packages\\", "\\python.exe", "[WinError", "expandable_segments not supported"}) {
    if (log.find(words) != std::string_view::npos) return true;
  }
  return names_drive(log);
}

}  // namespace vram
