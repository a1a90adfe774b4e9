#include "engine/advice/launch.h"
#include "web/platform.h"
#include "web/views.h"

namespace vram {

using namespace kit;

float launch_view(App& app, float x, float y, float width) {
  constexpr const char* kName = "copy.launch";
  const bool copied = app.copied == kName;
  int pressed = -1;
  const float height = runs(x, y, width, px(20),
                            {{kSmall, theme().muted, "To start what is planned: ", ""},
                             {kSmall, theme().accent, copied ? "Copied" : "Copy as launch script", kName},
                             {kSmall, theme().muted, ". Any launch command that is pasted here fills the plan.", ""}},
                            &pressed);
  if (pressed == 1) {
    platform::copy(write_launch(app.plan()));
    app.copied = kName;
    platform::call_later(platform::kTimerCopied, 1800);
  }
  return height;
}

}  // namespace vram
