// What tests ask of the running page: its report, its state, and where its widgets are.
#include <emscripten.h>

#include <string>

#include "engine/report/json_writer.h"
#include "web/app_state.h"
#include "web/kit.h"
#include "web/platform.h"

namespace {

using vram::json_string;

std::string& answer() {
  static std::string text;
  return text;
}

std::string box_json(const vram::kit::Box& box) {
  return "[" + std::to_string(box.x) + "," + std::to_string(box.y) + "," + std::to_string(box.w) + "," +
         std::to_string(box.h) + "]";
}

}  // namespace

extern "C" {

EMSCRIPTEN_KEEPALIVE const char* vram_report_json() {
  vram::complete(vram::the_app());
  answer() = vram::report_json(vram::the_app().report);
  return answer().c_str();
}

EMSCRIPTEN_KEEPALIVE const char* vram_state_json() {
  const vram::App& app = vram::the_app();
  std::string places, drafts, notices, keys;
  for (const vram::kit::Mark& mark : vram::kit::marks())
    places += (places.empty() ? "" : ",") + json_string(mark.name) + ":" + box_json(mark.box);
  for (const auto& [key, draft] : app.drafts)
    drafts += (drafts.empty() ? "" : ",") + json_string(vram::field(key).name) + ":" + json_string(draft.text);
  for (const std::string& notice : app.notices) notices += (notices.empty() ? "" : ",") + json_string(notice);
  for (const vram::Field& row : vram::fields()) keys += (keys.empty() ? "" : ",") + json_string(row.name);
  answer() = "{\"share\":" + json_string(app.share) + ",\"frames\":" + std::to_string(vram::platform::frames_drawn()) +
             ",\"search\":[" + std::to_string(app.layouts.slices) + "," + std::to_string(app.layouts.late) +
             "],\"places\":{" + places + "},\"keys\":[" + keys + "],\"drafts\":{" + drafts + "},\"notices\":[" +
             notices + "]}";
  return answer().c_str();
}
}
