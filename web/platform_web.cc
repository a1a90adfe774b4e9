#include "web/platform.h"

#include <GLES3/gl3.h>
#include <GLFW/glfw3.h>
#include <emscripten.h>
#include <emscripten/html5.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "backends/imgui_impl_glfw.h"
#include "backends/imgui_impl_opengl3.h"
#include "imgui.h"
#include "imgui_internal.h"
#include "web/language.h"

#ifdef EM_JS_DEPS  // newer Emscripten drops what is not declared; old ones do not know the macro
EM_JS_DEPS(vram_platform, "$UTF8ToString,$stringToUTF8,$lengthBytesUTF8");
#endif

// clang-format off
// --- in the browser's language --------------------------------------------------------------------------------

EM_JS(void, vram_js_share_functions, (), {
  var V = Module['vram'] = { canvas: Module['canvas'], timers: {}, clipboard: "", framed: window.parent !== window };
  V.toC = function(text) {
    var size = lengthBytesUTF8(text) + 1;
    var at = _malloc(size);
    stringToUTF8(text, at, size);
    return at;
  };
  V.send = function(call, text) {
    var at = V.toC(text);
    call(at);
    _free(at);
  };
  // In the page's language.
  V.say = function(text) {
    if (!text.trim() || document.documentElement.lang === 'en') return text;
    var at = V.toC(text);
    var said = UTF8ToString(_vram_say(at));
    _free(at);
    return said;
  };
  V.density = function() { return window.devicePixelRatio || 1; };
  V.schedule = function() {
    if (V.scheduled) return;
    V.scheduled = true;
    requestAnimationFrame(function() { V.scheduled = false; _vram_frame(); });
  };
});

// Key handling: GLFW listens on the window and would swallow Tab and Backspace meant for the page, and let the arrow
// keys scroll a page around us.
EM_JS(void, vram_js_listen_keys, (), {
  var V = Module['vram'];
  var scrolls = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'PageUp', 'PageDown', 'Home', 'End'];
  var onKey = function(event) {
    var at = document.activeElement;
    if (at && at !== V.canvas && at !== document.body) return event.stopImmediatePropagation();
    if (event.key === 'Tab' && !_vram_is_typing()) return event.stopImmediatePropagation();
    if (event.type === 'keydown' && scrolls.indexOf(event.key) >= 0) event.preventDefault();
    if (event.type === 'keypress' && event.key === ' ') event.preventDefault();
  };
  ['keydown', 'keypress', 'keyup'].forEach(function(type) { window.addEventListener(type, onKey, true); });
});

// Wheel: pixels, so that the page scrolls as far as any other. A bare wheel over an embedded page that nobody clicked
// belongs to the page around it; with Ctrl it is a zoom.
EM_JS(void, vram_js_listen_wheel, (), {
  var V = Module['vram'];
  var onWheel = function(event) {
    if (event.target !== V.canvas) return;
    event.stopImmediatePropagation();
    if (event.ctrlKey || (V.framed && document.activeElement !== V.canvas)) return;
    event.preventDefault();
    if (event.type !== 'wheel') return;
    var unit = event.deltaMode === 0 ? 1 : event.deltaMode === 1 ? 33 : 400;
    _vram_scroll(event.deltaX * unit * V.density(), event.deltaY * unit * V.density());
  };
  window.addEventListener('wheel', onWheel, { capture: true, passive: false });
  window.addEventListener('mousewheel', onWheel, { capture: true, passive: false });
  V.canvas.addEventListener('mousedown', function() { V.canvas.focus(); });
});

// Touch: a tap is a click where the finger lifts, a drag scrolls and glides on. GLFW's own touch handling of 3.1.6
// clicks at the previous place.
EM_JS(void, vram_js_listen_touch, (), {
  var V = Module['vram'];
  var start = null;
  if (V.framed) V.canvas.style.touchAction = 'pan-y';  // a drag belongs to the page around
  var point = function(event) {
    var box = V.canvas.getBoundingClientRect();
    var touch = event.changedTouches[0];
    return { x: (touch.clientX - box.left) * V.density(), y: (touch.clientY - box.top) * V.density(), t: event.timeStamp };
  };
  var glide = function(speed) {
    var token = V.gliding = {};
    var step = function() {
      if (V.gliding !== token || Math.abs(speed) < 0.5) return;
      _vram_scroll(0, speed);
      speed *= 0.95;
      requestAnimationFrame(step);
    };
    step();
  };
  var on = { touchstart: function(event) {
    V.gliding = null;
    start = event.touches.length === 1 ? point(event) : null;
    if (!start) return;
    start.last = start;
    start.speed = 0;
    _vram_point(start.x, start.y);
  }, touchmove: function(event) {
    if (!start) return;
    var now = point(event);
    if (!start.moved && Math.hypot(now.x - start.x, now.y - start.y) < 8 * V.density()) return;
    start.moved = true;
    _vram_scroll(start.last.x - now.x, start.last.y - now.y);
    start.speed = (start.last.y - now.y) / Math.max(1, now.t - start.last.t) * 16;
    start.last = now;
  }, touchend: function(event) {
    if (!start) return;
    if (start.moved) glide(start.speed);
    else {
      if (_vram_takes_text(start.x, start.y)) V.typing.focus();
      else V.canvas.focus();
      _vram_tap(start.x, start.y);
    }
    start = null;
  }, touchcancel: function() { start = null; } };
  Object.keys(on).forEach(function(type) {
    window.addEventListener(type, function(event) {
      if (event.target !== V.canvas) return;
      event.stopImmediatePropagation();
      if (event.cancelable && V.canvas.style.touchAction !== 'pan-y') event.preventDefault();
      else if (type === 'touchend' && event.cancelable) event.preventDefault();
      on[type](event);
    }, { capture: true, passive: false });
  });
});

// A canvas raises no soft keyboard: an input out of sight takes what is typed on glass, and compositions.
EM_JS(void, vram_js_listen_soft_keyboard, (), {
  var V = Module['vram'];
  var field = V.typing = document.getElementById('typing');
  var composing = false;
  var drain = function() {
    if (!composing && field.value) { V.send(_vram_typed, field.value); field.value = ""; }
  };
  field.addEventListener('compositionstart', function() { composing = true; });
  field.addEventListener('compositionend', function() { composing = false; drain(); });
  field.addEventListener('input', drain);
  field.addEventListener('beforeinput', function(event) {
    if (event.inputType === 'deleteContentBackward') _vram_key(0);
    if (event.inputType === 'insertLineBreak') _vram_key(1);
  });
  field.addEventListener('keydown', function(event) {
    if (event.key === 'Backspace') { event.preventDefault(); _vram_key(0); }
    if (event.key === 'Enter') { event.preventDefault(); _vram_key(1); field.blur(); }
    if (event.key === 'Escape') { event.preventDefault(); _vram_key(2); V.canvas.focus(); }
  });
});

EM_JS(void, vram_js_listen_text, (), {
  var V = Module['vram'];
  var largest = 1 << 20;
  V.arrived = function(text) {  // it takes the rest of the program to read it
    Module['fetchRest']().then(function() { V.send(_vram_text_arrived, text); }, function(error) { Module['trouble'](String(error)); });
  };
  window.addEventListener('paste', function(event) {
    var text = event.clipboardData ? event.clipboardData.getData('text/plain') : "";
    if (!text) return;
    V.clipboard = text;
    if (text.length <= largest && (!_vram_is_typing() || text.trim()[0] === '{')) V.arrived(text);
  });
  window.addEventListener('dragover', function(event) { event.preventDefault(); });
  window.addEventListener('drop', function(event) {
    event.preventDefault();
    event.stopImmediatePropagation();
    var file = event.dataTransfer.files[0];
    if (file && file.size > largest) return V.arrived(file.name + ": larger than 1 MiB");
    if (file) file.text().then(function(text) { V.arrived(text); });
    else {
      var text = event.dataTransfer.getData('text/plain');
      if (text) V.arrived(text);
    }
  }, true);
});

// Anything that may change the picture wakes the page; nothing else does.
EM_JS(void, vram_js_listen_wakers, (), {
  var V = Module['vram'];
  var wake = function() { _vram_wake(); };
  ['mousemove', 'mousedown', 'mouseup', 'mouseout', 'wheel', 'keydown', 'keypress', 'keyup', 'paste', 'focus', 'blur',
   'resize', 'pageshow'].forEach(function(type) {
    window.addEventListener(type, wake, { capture: true, passive: true });
  });
  document.addEventListener('visibilitychange', wake);
  if (window.ResizeObserver) new ResizeObserver(wake).observe(V.canvas);
  var arm = function() {
    matchMedia('(resolution: ' + V.density() + 'dppx)').addEventListener('change', function() { wake(); arm(); }, { once: true });
  };
  arm();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', wake);
  var onLocation = function() {
    if (location.hash !== V.written) { V.written = null; _vram_location_changed(); }
  };
  window.addEventListener('hashchange', onLocation);
  window.addEventListener('popstate', onLocation);
});

EM_JS(void, vram_js_listen_context, (), {
  var V = Module['vram'];
  V.canvas.addEventListener('webglcontextlost', function(event) {
    event.preventDefault();
    document.body.classList.remove('drawn');
    document.body.classList.add('starting');
    Module['trouble']('The browser took the graphics away; until it gives them back, this is the plan as text.');
    _vram_context(0);
  });
  V.canvas.addEventListener('webglcontextrestored', function() {
    _vram_context(1);
  });
});

// The plain form: the same inputs as elements of the document. A button that shows when the keyboard reaches it
// brings text and form in the canvas's place, and back.
EM_JS(void, vram_js_listen_form, (), {
  var V = Module['vram'];
  var form = document.getElementById('plan');
  var body = document.body.classList;
  V.isPlain = function() { return !body.contains('drawn') || body.contains('plain') || body.contains('sheet'); };
  document.getElementById('toggle').addEventListener('click', function(event) {
    body.toggle('plain');
    event.target.textContent = V.isPlain() ? 'Show as drawn' : 'Show as form and text';
    if (V.isPlain()) V.showForm();
    else V.canvas.focus();
    _vram_wake();
  });
  form.addEventListener('submit', function(event) { event.preventDefault(); });
  form.addEventListener('change', function(event) {
    var input = event.target;
    V.send(_vram_edited, input.name + '=' + (input.type === 'checkbox' ? (input.checked ? '1' : '0') : input.value));
  });
  var inputOf = function(row) {
    var input = document.createElement(row.words.length ? 'select' : 'input');
    row.words.forEach(function(word) { V.add(input, 'option', word[1]).value = word[0]; });
    if (row.flag) input.type = 'checkbox';
    input.name = row.name;
    input.id = 'plan-' + row.name;
    input.title = V.say(row.help);
    return input;
  };
  V.addField = function(row) {
    var group = document.getElementById('plan-section-' + row.section);
    if (!group) {
      group = V.add(form, 'fieldset');
      group.id = 'plan-section-' + row.section;
      group.dataset.parts = '|' + row.section + '|' + row.group + '|';
      V.add(group, 'legend', row.section);
    }
    var label = V.add(group, 'label', row.label);
    label.appendChild(document.createTextNode(row.unit ? ' (' + V.say(row.unit) + ') ' : ' '));
    label.appendChild(inputOf(row));
    V.add(label, 'small').id = 'plan-complaint-' + row.name;
  };
  V.showForm = function() {
    if (!V.form || !V.isPlain()) return;
    V.form.forEach(function(row) {
      if (!document.getElementById('plan-' + row.name)) V.addField(row);
      var input = document.getElementById('plan-' + row.name);
      if (row.flag) input.checked = row.value === '1';
      else if (input !== document.activeElement || input.value === "") input.value = row.value;
      input.parentNode.className = (row.given ? 'given' : "") + (row.first ? "" : ' later');
      document.getElementById('plan-complaint-' + row.name).textContent = row.complaint;
    });
  };
});

// On a phone a part of the form comes as a sheet over the canvas: the system's own inputs, keyboards and lists.
EM_JS(void, vram_js_listen_sheet, (), {
  var V = Module['vram'];
  var body = document.body.classList;
  var done = document.getElementById('done');
  var more = document.getElementById('more');
  var show = function(part) {
    document.querySelectorAll('#plan fieldset').forEach(function(group) {
      group.hidden = part && group.dataset.parts.indexOf('|' + part + '|') < 0;
    });
  };
  V.openSheet = function(part) {
    body.add('sheet');
    body.remove('whole');
    V.showForm();
    show(part);
    more.textContent = V.say('All of them');
    more.hidden = !document.querySelector('#plan fieldset:not([hidden]) .later');
    document.getElementById('text').scrollTop = 0;
    done.textContent = V.say('Done');
    done.focus();
  };
  var close = function() {
    if (!body.contains('sheet')) return;
    body.remove('sheet', 'whole');
    show("");
    V.canvas.focus();
    _vram_wake();
  };
  done.addEventListener('click', close);
  more.addEventListener('click', function() {
    body.add('whole');
    more.hidden = true;
  });
  window.addEventListener('keydown', function(event) { if (event.key === 'Escape') close(); }, true);
});

EM_JS(void, vram_js_open_sheet, (const char* part), { Module['vram'].openSheet(UTF8ToString(part)); });

EM_JS(void, vram_js_form, (const char* rows), {
  var V = Module['vram'];
  V.form = JSON.parse(UTF8ToString(rows));
  if (V.formLanguage !== document.documentElement.lang) document.getElementById('plan').textContent = "";
  V.formLanguage = document.documentElement.lang;
  V.showForm();
});

EM_JS(bool, vram_js_has_webgl2, (), {
  var probe = document.createElement('canvas');
  var context = null;
  try { context = probe.getContext('webgl2'); } catch (error) {}
  if (context && context.getExtension('WEBGL_lose_context')) context.getExtension('WEBGL_lose_context').loseContext();
  return !!context;
});

EM_JS(void, vram_js_schedule, (), { Module['vram'].schedule(); });
EM_JS(void, vram_js_say_drawn, (), {
  document.body.classList.remove('starting');
  document.body.classList.add('drawn');
});
EM_JS(void, vram_js_say_no_webgl, (), {
  document.body.classList.remove('starting');
  Module['vram'].showForm();
  Module['trouble']('This browser gives no WebGL 2: the page shows the plan as text. The plan is in the address, behind #.');
});

EM_JS(void, vram_js_later, (int which, int milliseconds), {
  var timers = Module['vram'].timers;
  clearTimeout(timers[which]);
  timers[which] = setTimeout(function() { _vram_timer(which); }, milliseconds);
});

EM_JS(char*, vram_js_location, (), {
  return Module['vram'].toC(location.hash.length > 1 ? location.hash : location.search);
});

EM_JS(bool, vram_js_write_location, (const char* share, bool push), {
  var V = Module['vram'];
  // A query that held the plan would contradict the fragment.
  var query = location.hash.length > 1 || V.written ? location.search : "";
  var url = location.pathname + query + '#' + UTF8ToString(share);
  try {
    if (push) history.pushState(null, "", url);
    else history.replaceState(null, "", url);
  } catch (error) { return false; }
  V.written = location.hash;
  return true;
});

EM_JS(char*, vram_js_link, (const char* share), {
  return Module['vram'].toC(location.href.split(/[?#]/)[0] + '#' + UTF8ToString(share));
});

EM_JS(void, vram_js_copy, (const char* pointer), {
  var V = Module['vram'];
  var text = V.clipboard = UTF8ToString(pointer);
  var byHand = function() {  // no clipboard on plain http, or not in this frame
    var area = document.createElement('textarea');
    area.value = text;
    area.style.position = 'fixed';
    area.style.opacity = 0;
    document.body.appendChild(area);
    area.select();
    document.execCommand('copy');
    area.remove();
    V.canvas.focus();
  };
  if (navigator.clipboard) navigator.clipboard.writeText(text).catch(byHand);
  else byHand();
});

// A site keeps a language in two files beside the page; the page of one file has them in itself.
EM_JS(void, vram_js_fetch_language, (const char* pointer), {
  var name = UTF8ToString(pointer);
  var fetched = function(file) {
    var inside = Module['files'] && Module['files'][file];
    if (inside) return Promise.resolve(inside);
    return fetch(Module['locateFile'](file, "")).then(function(response) {
      if (!response.ok) throw new Error(file + ': ' + response.status);
      return response.arrayBuffer();
    }).then(function(bytes) { return new Uint8Array(bytes); });
  };
  Promise.all([fetched(name + '.txt'), fetched(name + '.otf'), Module['fetchRest']()]).then(function(files) {
    var at = _malloc(files[0].length + files[1].length);
    HEAPU8.set(files[0], at);
    HEAPU8.set(files[1], at + files[0].length);
    _vram_language_arrived(at, files[0].length, files[1].length);
  }).catch(function(error) { Module['trouble'](String(error)); });
});
EM_JS(bool, vram_js_is_whole, (), {
  if (Module['rest'] === 'unasked') Module['fetchRest']();
  return Module['rest'] === 'here';
});
EM_JS(bool, vram_js_is_broken, (), { return Module['rest'] === 'missing'; });
EM_JS(char*, vram_js_browser_language, (), { return Module['vram'].toC(navigator.language || 'en'); });
EM_JS(void, vram_js_document_language, (const char* name), { document.documentElement.lang = UTF8ToString(name); });

EM_JS(void, vram_js_download, (const char* name, const char* type, const char* text), {
  var link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([UTF8ToString(text)], { type: UTF8ToString(type) }));
  link.download = UTF8ToString(name);
  link.click();
  setTimeout(function() { URL.revokeObjectURL(link.href); }, 10000);
});

EM_JS(void, vram_js_paste, (), {
  var V = Module['vram'];
  if (!navigator.clipboard || !navigator.clipboard.readText) return;
  navigator.clipboard.readText().then(function(text) { if (text) V.arrived(text); }, function() {});
});

EM_JS(char*, vram_js_clipboard, (), { return Module['vram'].toC(Module['vram'].clipboard); });
EM_JS(void, vram_js_open, (const char* link), { window.open(UTF8ToString(link), '_blank', 'noopener'); });
EM_JS(bool, vram_js_prefers_dark, (), { return matchMedia('(prefers-color-scheme: dark)').matches; });
EM_JS(bool, vram_js_is_mac, (), { return navigator.platform.indexOf('Mac') === 0 || navigator.platform.indexOf('iP') === 0; });
EM_JS(void, vram_js_theme, (bool dark), { document.documentElement.dataset.theme = dark ? 'dark' : 'light'; });
EM_JS(void, vram_js_title, (const char* text), { document.title = UTF8ToString(text); });
EM_JS(void, vram_js_announce, (const char* text), {
  document.getElementById('summary').textContent = Module['vram'].say(UTF8ToString(text));
});
EM_JS(void, vram_js_cursor, (const char* name), { Module['vram'].canvas.style.cursor = UTF8ToString(name); });

// Markdown as our own writer prints it: headings, tables, lists, fences, paragraphs. Text only ever becomes text nodes.
// No backslashes: the preprocessor would spell them otherwise.
EM_JS(void, vram_js_markdown, (), {
  var V = Module['vram'];
  var backslash = String.fromCharCode(92);
  var bar = String.fromCharCode(1);  // an escaped one
  var entities = { nbsp: ' ', lt: '<', gt: '>', amp: '&', quot: '"' };
  var plain = function(text) {
    return text.split(bar).join('|').split(backslash).join("").replace(/&([a-z]+);/g, function(all, name) { return entities[name] || all; });
  };
  V.add = function(parent, name, text) {
    var element = document.createElement(name);
    (text || "").split(/([*][*][^*]+[*][*]|`[^`]+`)/).forEach(function(piece) {
      if (/^[*][*].+[*][*]$/.test(piece)) element.appendChild(document.createElement('strong')).textContent = V.say(plain(piece.slice(2, -2)));
      else if (/^`.+`$/.test(piece)) element.appendChild(document.createElement('code')).textContent = plain(piece.slice(1, -1));
      else element.appendChild(document.createTextNode(V.say(plain(piece))));
    });
    parent.appendChild(element);
    return element;
  };
  V.addRow = function(table, line, name) {
    var row = V.add(table, 'tr');
    line.trim().split('|').slice(1, -1).forEach(function(cell) { V.add(row, name, cell.trim()); });
  };
  V.lines = function(markdown) { return markdown.split(backslash + '|').join(bar).split(String.fromCharCode(10)); };
});

EM_JS(void, vram_js_document, (const char* markdown), {
  var V = Module['vram'];
  var into = document.createDocumentFragment();
  var block = null;
  V.lines(UTF8ToString(markdown)).forEach(function(line) {
    var heading = /^(#+) (.*)/.exec(line);
    var item = /^ *[-*] (.*)/.exec(line);
    if (block && block.fence) {
      if (/^```/.test(line)) block = null;
      else block.element.appendChild(document.createTextNode(line + String.fromCharCode(10)));
    } else if (/^```/.test(line)) block = { fence: true, element: V.add(into, 'pre') };
    else if (heading) { V.add(into, 'h' + Math.min(6, heading[1].length), heading[2]); block = null; }
    else if (/^[|][ :|-]+[|] *$/.test(line)) return;
    else if (/^[|]/.test(line)) {
      var first = !block || !block.table;
      if (first) block = { table: true, element: V.add(into, 'table') };
      V.addRow(block.element, line, first ? 'th' : 'td');
    } else if (item) {
      if (!block || !block.list) block = { list: true, element: V.add(into, 'ul') };
      V.add(block.element, 'li', item[1]);
    } else { block = null; if (line.trim()) V.add(into, 'p', line); }
  });
  var text = document.getElementById('report');
  text.textContent = "";
  text.appendChild(into);
});

// What an organisation keeps beside its page; the page of one file has no such thing.
EM_JS(void, vram_js_fetch_site, (), {
  if (Module['files']) return;
  fetch('site.json').then(function(response) { return response.ok ? response.text() : ""; }).then(function(text) {
    if (text && text.trim() !== '{}') Module['fetchRest']().then(function() { Module['vram'].send(_vram_site_arrived, text); });
  }).catch(function() {});  // nothing depends on it
});

// 3.1.6's GLFW takes a window of the screen's size for a wish to go full screen.
EM_JS(bool, vram_js_set_canvas_size, (int width, int height), {
  if (!Module['setCanvasSize']) return false;
  Module['setCanvasSize'](width, height);
  return true;
});

// clang-format on
// --- in ours ---------------------------------------------------------------------------------------------------

namespace vram::platform {
namespace {

Events events;
GLFWwindow* window = nullptr;
int frames_wanted = 0, drawn = 0;
bool context_lost = false, said_drawn = false;
Viewport size;
std::string clipboard;

std::string owned(char* text) {
  std::string copy = text ? text : "";
  std::free(text);
  return copy;
}

void fit_canvas() {
  double width = 0, height = 0;
  emscripten_get_element_css_size("#canvas", &width, &height);
  const double density = emscripten_get_device_pixel_ratio();
  const auto pixels = [&](double css) { return std::max(1.0f, static_cast<float>(std::round(css * density))); };
  const Viewport now{pixels(width), pixels(height), static_cast<float>(density)};
  if (now.width == size.width && now.height == size.height && now.density == size.density) return;
  size = now;
  const int w = static_cast<int>(now.width), h = static_cast<int>(now.height);
  if (!vram_js_set_canvas_size(w, h)) glfwSetWindowSize(window, w, h);
  frames_wanted = std::max(frames_wanted, 3);
}

void show_cursor() {
  static int shown = -1;
  const int wanted = ImGui::GetMouseCursor();
  if (wanted == shown) return;
  shown = wanted;
  vram_js_cursor(wanted == ImGuiMouseCursor_Hand        ? "pointer"
                 : wanted == ImGuiMouseCursor_TextInput ? "text"
                 : wanted == ImGuiMouseCursor_ResizeEW  ? "ew-resize"
                                                        : "default");
}

void install_clipboard() {
  ImGuiPlatformIO& platform = ImGui::GetPlatformIO();
  platform.Platform_SetClipboardTextFn = [](ImGuiContext*, const char* text) { vram_js_copy(text); };
  platform.Platform_GetClipboardTextFn = [](ImGuiContext*) {
    clipboard = owned(vram_js_clipboard());
    return clipboard.c_str();
  };
}

}  // namespace

void listen(const Events& wanted) {
  events = wanted;
  vram_js_share_functions();
  vram_js_markdown();
  vram_js_listen_form();
  vram_js_listen_sheet();
  vram_js_listen_wakers();
  vram_js_listen_keys();
  vram_js_listen_wheel();
  vram_js_listen_soft_keyboard();
  vram_js_listen_touch();
  vram_js_listen_text();
  vram_js_fetch_site();
}

bool start_graphics() {
  if (vram_js_has_webgl2() && glfwInit()) {
    glfwWindowHint(GLFW_CLIENT_API, GLFW_OPENGL_ES_API);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_ALPHA_BITS, 0);
    glfwWindowHint(GLFW_DEPTH_BITS, 0);
    glfwWindowHint(GLFW_STENCIL_BITS, 0);
    window = glfwCreateWindow(640, 480, "VRAM Ledger", nullptr, nullptr);
  }
  if (!window) {
    vram_js_say_no_webgl();
    return false;
  }
  glfwMakeContextCurrent(window);
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
  io.ConfigInputTextCursorBlink = false;  // a blinking caret would keep the page awake
  io.ConfigMacOSXBehaviors = vram_js_is_mac();
  ImGui_ImplGlfw_InitForOpenGL(window, true);
  ImGui_ImplOpenGL3_Init("#version 300 es");
  install_clipboard();
  vram_js_listen_context();
  return true;
}

bool begin_frame(Viewport* viewport) {
  if (context_lost) return false;
  fit_canvas();
  *viewport = size;
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGuiIO& io = ImGui::GetIO();
  io.DeltaTime = std::clamp(io.DeltaTime, 0.001f, 0.5f);  // after a sleep; two clicks apart stay two clicks
  return true;
}

void end_frame(unsigned background) {
  ImGui::Render();
  glViewport(0, 0, static_cast<int>(size.width), static_cast<int>(size.height));
  const ImVec4 color = ImGui::ColorConvertU32ToFloat4(background);
  glClearColor(color.x, color.y, color.z, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  show_cursor();
  drawn++;
  if (!said_drawn) vram_js_say_drawn();
  said_drawn = true;
}

void request_frames(int count) {
  frames_wanted = std::max(frames_wanted, count);
  if (window && !context_lost) vram_js_schedule();
}

int frames_drawn() { return drawn; }
void call_later(Timer which, int milliseconds) { vram_js_later(which, milliseconds); }
std::string read_location() { return owned(vram_js_location()); }
bool write_location(const std::string& share, bool push) { return vram_js_write_location(share.c_str(), push); }
std::string link_to(const std::string& share) { return owned(vram_js_link(share.c_str())); }
void copy(const std::string& text) { vram_js_copy(text.c_str()); }
void download(const char* name, const char* type, const std::string& text) {
  vram_js_download(name, type, text.c_str());
}
void paste() { vram_js_paste(); }
void open_in_new_tab(const std::string& link) { vram_js_open(link.c_str()); }
void write_document(const std::string& markdown) { vram_js_document(markdown.c_str()); }
void announce(const std::string& sentence) { vram_js_announce(sentence.c_str()); }
void write_form(const std::string& rows) { vram_js_form(rows.c_str()); }
void open_form(const std::string& part) { vram_js_open_sheet(part.c_str()); }
void set_title(const std::string& title) { vram_js_title(title.c_str()); }
void set_document_theme(bool dark) { vram_js_theme(dark); }
void fetch_language(const std::string& name) { vram_js_fetch_language(name.c_str()); }
bool is_whole() { return vram_js_is_whole(); }
bool is_broken() { return vram_js_is_broken(); }
std::string browser_language() { return owned(vram_js_browser_language()); }
void set_document_language(const char* name) { vram_js_document_language(name); }
double seconds() { return emscripten_get_now() / 1000; }
bool system_prefers_dark() { return vram_js_prefers_dark(); }
bool is_mac() { return vram_js_is_mac(); }

}  // namespace vram::platform

// --- what the browser calls -------------------------------------------------------------------------------------

namespace {

// ImGui scrolls five lines a notch; we are told pixels.
float notches(float pixels) { return -pixels / (5 * ImGui::GetStyle().FontSizeBase * ImGui::GetStyle().FontScaleDpi); }

ImGuiKey soft_key(int which) { return which == 0 ? ImGuiKey_Backspace : which == 1 ? ImGuiKey_Enter : ImGuiKey_Escape; }

}  // namespace

using vram::platform::request_frames;

extern "C" {

EMSCRIPTEN_KEEPALIVE void vram_frame() {
  using namespace vram::platform;
  if (frames_wanted <= 0 || context_lost) return;
  frames_wanted--;
  events.frame();
  // ImGui feeds queued input to its frames bit by bit: as long as some waits, frames must come.
  if (ImGui::GetCurrentContext()->InputEventsQueue.Size > 0) frames_wanted = std::max(frames_wanted, 3);
  if (frames_wanted > 0) vram_js_schedule();
}

EMSCRIPTEN_KEEPALIVE void vram_wake() { request_frames(3); }
EMSCRIPTEN_KEEPALIVE void vram_timer(int which) { vram::platform::events.timer(which); }
EMSCRIPTEN_KEEPALIVE void vram_location_changed() { vram::platform::events.location_changed(); }
EMSCRIPTEN_KEEPALIVE void vram_text_arrived(const char* text) { vram::platform::events.text_arrived(text); }

EMSCRIPTEN_KEEPALIVE void vram_language_arrived(const char* bytes, int table, int font) {
  const unsigned char* rest = reinterpret_cast<const unsigned char*>(bytes) + table;
  vram::platform::events.language_arrived({bytes, static_cast<size_t>(table)}, {rest, static_cast<size_t>(font)});
}

EMSCRIPTEN_KEEPALIVE void vram_site_arrived(const char* json) { vram::platform::events.site_arrived(json); }
EMSCRIPTEN_KEEPALIVE void vram_rest() { vram::platform::events.rest_arrived(); }

EMSCRIPTEN_KEEPALIVE const char* vram_say(const char* english) { return vram::language::say(english).c_str(); }

EMSCRIPTEN_KEEPALIVE void vram_edited(const char* assignment) {
  const std::string_view text = assignment;
  const size_t equals = text.find('=');
  vram::platform::events.edited(text.substr(0, equals), text.substr(equals + 1));
}

EMSCRIPTEN_KEEPALIVE bool vram_is_typing() { return vram::platform::window && ImGui::GetIO().WantTextInput; }

EMSCRIPTEN_KEEPALIVE bool vram_takes_text(float x, float y) { return vram::platform::events.takes_text(x, y); }

EMSCRIPTEN_KEEPALIVE void vram_scroll(float dx, float dy) {
  if (!vram::platform::window) return;
  ImGui::GetIO().AddMouseWheelEvent(notches(dx), notches(dy));
  request_frames(3);
}

EMSCRIPTEN_KEEPALIVE void vram_point(float x, float y) {
  if (!vram::platform::window) return;
  ImGui_ImplGlfw_CursorEnterCallback(vram::platform::window,
                                     1);  // or the backend asks GLFW where its mouse is, every frame
  ImGui::GetIO().AddMouseSourceEvent(ImGuiMouseSource_TouchScreen);
  ImGui::GetIO().AddMousePosEvent(x, y);
  request_frames(3);
}

EMSCRIPTEN_KEEPALIVE void vram_tap(float x, float y) {
  if (!vram::platform::window) return;
  ImGuiIO& io = ImGui::GetIO();
  io.AddMouseSourceEvent(ImGuiMouseSource_TouchScreen);
  io.AddMousePosEvent(x, y);
  io.AddMouseButtonEvent(0, true);
  io.AddMouseButtonEvent(0, false);
  io.AddMousePosEvent(-FLT_MAX, -FLT_MAX);  // a finger does not hover
  request_frames(3);
}

EMSCRIPTEN_KEEPALIVE void vram_typed(const char* text) {
  if (!vram::platform::window) return;
  ImGui::GetIO().AddInputCharactersUTF8(text);
  request_frames(3);
}

EMSCRIPTEN_KEEPALIVE void vram_key(int which) {
  if (!vram::platform::window) return;
  ImGui::GetIO().AddKeyEvent(soft_key(which), true);
  ImGui::GetIO().AddKeyEvent(soft_key(which), false);
  request_frames(3);
}

EMSCRIPTEN_KEEPALIVE void vram_context(int restored) {
  vram::platform::context_lost = restored == 0;
  if (!restored) return;
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplOpenGL3_Init("#version 300 es");
  vram::platform::said_drawn = false;
  request_frames(3);
}
}
