#pragma once

#include <span>
#include <string>
#include <string_view>

// The seam to the browser: the only header whose implementation knows the DOM, the URL, the clipboard and WebGL.
namespace vram::platform {

/// What the browser tells the page. Plain functions: there is one page.
struct Events {
  void (*frame)() = nullptr;             // draw now
  void (*work)() = nullptr;              // what `request_work` asked for
  void (*location_changed)() = nullptr;  // back, forward, or a pasted address
  // A dropped file, or text pasted outside a text box; of a long one the bytes in its middle that are left out.
  void (*text_arrived)(std::string_view text, double left_out) = nullptr;
  void (*timer)(int which) = nullptr;
  void (*edited)(std::string_view key, std::string_view value) = nullptr;  // in the plain form
  // The table and the font that `fetch_language` asked for; both live on. Empty where they could not be fetched.
  void (*language_arrived)(std::string_view table, std::span<const unsigned char> font) = nullptr;
  void (*site_arrived)(std::string_view json) = nullptr;  // site.json, where it stands beside the page
  void (*rest_arrived)() = nullptr;                       // or could not be fetched
  std::string (*form)() = nullptr;                        // the rows of the document's plain form (web/form.h)
  bool (*takes_text)(float x, float y) = nullptr;         // is there a text box at these physical pixels?
};

enum Timer : int { kTimerWake, kTimerAddress, kTimerDocument, kTimerAnnounce, kTimerCopied };

/// Listens to the browser. Comes before `start_graphics`, so that our listeners precede GLFW's.
void listen(const Events& events);

/// False where the browser gives no WebGL 2: the document's text is then all there is.
bool start_graphics();

/// Physical pixels of the canvas, and how many there are to a CSS pixel.
struct Viewport {
  float width = 0, height = 0, density = 1;
};
/// Fits the canvas to its box and begins a frame. False while the graphics context is lost.
bool begin_frame(Viewport* viewport);
void end_frame(unsigned background);

/// Draws at least `count` frames from now on; then sleeps until an event comes.
void request_frames(int count);
int frames_drawn();
/// Has `work` called once, between two frames.
void request_work();
/// Calls `timer(which)` once, that much later; asked again before, it starts anew.
void call_later(Timer which, int milliseconds);

/// The share string of the address: its fragment, or its query where there is no fragment.
std::string read_location();
/// Writes the fragment. `push`: as a new entry of the history. False where the browser refused (too many writes).
bool write_location(const std::string& share, bool push);
/// The whole address with this share string.
std::string link_to(const std::string& share);
void copy(const std::string& text);
/// A file of the reader's own, made here.
void download(const char* name, const char* type, const std::string& text);
/// Asks the browser for what the clipboard holds; it arrives as `text_arrived`, where the reader allows it.
void paste();
void open_in_new_tab(const std::string& link);

/// The document behind the canvas, from Markdown; and the one line that is read out when it changes.
void write_document(const std::string& markdown);
void announce(const std::string& sentence);
/// The plan changed: the plain form asks for its rows anew where anybody sees it.
void renew_form();
/// Brings a part of the form over the canvas, for a phone: a section, or all of a group ("model", "hardware").
void open_form(const std::string& part);
/// Names the tab, and the entries of the history.
void set_title(const std::string& title);
/// The document's colours follow the canvas.
void set_document_theme(bool dark);

/// Is the rest of the program here, which the first sight does not need (web/rest.js)? Asks for it where it is not.
bool is_whole();
/// The same, without asking for it.
bool has_rest();
/// Could it not be fetched?
bool is_broken();

/// Asks for the table and the font of a language ("zh"), which come later, or never.
void fetch_language(const std::string& name);
/// What the browser prefers: "en", "zh-CN".
const std::string& browser_language();
/// Tells the document which language its text is in.
void set_document_language(const char* name);

double seconds();
bool system_prefers_dark();
bool is_mac();

}  // namespace vram::platform
